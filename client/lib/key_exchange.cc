// SPDX-License-Identifier: Apache-2.0
#include "client/lib/key_exchange.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"

namespace sideband::client {
namespace {

constexpr size_t kBlobBytesMax = 64 << 10;

// Copies a field of fixed size; false for another size.
template <typename Array>
bool Read(const std::string& from, Array& to) {
  if (from.size() != to.size()) return false;
  std::ranges::copy(AsBytes(from), to.begin());
  return true;
}

struct Challenged {
  exchange::GuestExchange::Subject subject;
  exchange::Challenge challenge{};
};

absl::StatusOr<Challenged> Challenge(TelemetryClient& client, const ExchangeSubject& subject) {
  v1::ChallengeRequest request;
  request.set_device(subject.device);
  request.set_vm(subject.vm);
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ChallengeResponse response, client.Challenge(request));
  Challenged challenged;
  const bool is_whole = Read(response.challenge(), challenged.challenge) &&
                        Read(response.device_uuid(), challenged.subject.device.bytes) &&
                        Read(response.vm_uuid(), challenged.subject.vm.bytes);
  if (!is_whole) return absl::DataLossError("the daemon's challenge is malformed");
  return challenged;
}

// An entry of configfs-tsm, which stands for one report.
class TsmEntry {
 public:
  explicit TsmEntry(std::string path) : path_(std::move(path)) {}
  TsmEntry(const TsmEntry&) = delete;
  TsmEntry& operator=(const TsmEntry&) = delete;
  ~TsmEntry() {
    if (is_made_) ::rmdir(path_.c_str());
  }

  absl::StatusOr<Bytes> Report(const attestation::ReportData& report_data) {
    if (::mkdir(path_.c_str(), 0700) != 0) return ErrnoStatus(errno, path_);
    is_made_ = true;
    std::ofstream in(path_ + "/inblob", std::ios::binary);
    in.write(reinterpret_cast<const char*>(report_data.data()), static_cast<std::streamsize>(report_data.size()));
    if (!in.flush()) return absl::UnavailableError(absl::StrCat(path_, "/inblob: cannot be written"));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string report, ReadFile(path_ + "/outblob", kBlobBytesMax));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string certificates, ReadFile(path_ + "/auxblob", kBlobBytesMax));
    ByteWriter evidence;
    evidence.Raw(AsBytes(report));
    evidence.Raw(AsBytes(certificates));
    return std::move(evidence).Take();
  }

 private:
  const std::string path_;
  bool is_made_ = false;
};

}  // namespace

EvidenceSource EvidenceOfTsm(std::string folder) {
  return [folder = std::move(folder)](const attestation::ReportData& report_data) {
    return TsmEntry(absl::StrCat(folder, "/sideband-", ::getpid())).Report(report_data);
  };
}

EvidenceSource EvidenceOfThrowawayPsp(std::string folder, const attestation::Measurement& measurement) {
  return
      [folder = std::move(folder), measurement](const attestation::ReportData& report_data) -> absl::StatusOr<Bytes> {
        SIDEBAND_ASSIGN_OR_RETURN(const auto psp, attestation::ThrowawayPsp::Load(folder));
        return psp->Report({.report_data = report_data, .measurement = measurement});
      };
}

absl::StatusOr<exchange::GuestKeys> ExchangeKeys(TelemetryClient& client, const ExchangeSubject& subject,
                                                 const EvidenceSource& source, const exchange::SealerTrust& trust) {
  SIDEBAND_ASSIGN_OR_RETURN(const Challenged challenged, Challenge(client, subject));
  SIDEBAND_ASSIGN_OR_RETURN(auto own_end, exchange::GuestExchange::Begin(challenged.subject, challenged.challenge));
  SIDEBAND_ASSIGN_OR_RETURN(const attestation::ReportData report_data, own_end.GetReportData());
  SIDEBAND_ASSIGN_OR_RETURN(Bytes evidence, source(report_data));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes bytes, own_end.Request(std::move(evidence)));
  v1::ExchangeRequest request;
  request.set_device(subject.device);
  request.set_vm(subject.vm);
  request.set_request(bytes.data(), bytes.size());
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ExchangeResponse response, client.Exchange(request));
  absl::StatusOr<exchange::GuestKeys> keys = own_end.Finish(AsBytes(response.answer()), trust, absl::Now());
  // It is no file or option of the caller's that is wrong.
  if (!keys.ok()) return absl::UnauthenticatedError(keys.status().message());
  return keys;
}

}  // namespace sideband::client
