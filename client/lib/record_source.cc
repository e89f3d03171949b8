// SPDX-License-Identifier: Apache-2.0
#include "client/lib/record_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/lib/rpc_status.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "sideband/v1/telemetry.pb.h"

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

// Magic, number, checksum and padding, and the length of each record, are less than a header.
constexpr size_t kViewBytesMax =
    envelope::kSealedViewRecordsMax * (envelope::kRecordBytesMax + envelope::kHeaderBytesMax);

bool HasNonce(ByteSpan record, const envelope::GuestNonce& nonce) {
  const absl::StatusOr<envelope::RecordView> view = envelope::ParseRecord(record);
  return view.ok() && view->header.guest_nonce == nonce;
}

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
  // No file or option of the caller's is wrong.
  if (!keys.ok()) return absl::UnauthenticatedError(keys.status().message());
  return keys;
}

absl::Status DaemonRecords::Read(const Stream& stream, const Callbacks& callbacks) {
  v1::SubscribeSealedRequest request;
  request.set_device(stream.subject.device);
  request.set_vm(stream.subject.vm);
  request.set_nonce(stream.nonce.data(), stream.nonce.size());
  const StreamTick tick{.period = absl::Seconds(1), .action = [&] { return callbacks.on_second(), true; }};
  return stream.client.SubscribeSealed(request, callbacks.on_record, tick);
}

absl::StatusOr<Bytes> ViewRecords::RecordOf(const envelope::GuestNonce& nonce) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string file, ReadFile(options_.path, kViewBytesMax));
  const absl::StatusOr<std::vector<ByteSpan>> records = envelope::DecodeSealedView(AsBytes(file));
  if (!records.ok()) return absl::DataLossError(absl::StrCat(options_.path, ": ", records.status().message()));
  for (const ByteSpan record : *records) {
    if (HasNonce(record, nonce)) return Bytes(record.begin(), record.end());
  }
  return absl::NotFoundError(absl::StrCat(options_.path, ": no record of this exchange"));
}

absl::Status ViewRecords::CheckPatience(const absl::Status& trouble, Progress& progress) const {
  // Neither comes back: the device has removed the file together with the keys, or seals for other exchanges.
  if (absl::IsNotFound(trouble) && !progress.newest.empty()) {
    return MarkRemote(absl::FailedPreconditionError(trouble.message()));
  }
  const absl::Duration silence = options_.now() - progress.since;
  if (silence >= kPatience) {
    // A device that was killed leaves its file behind.
    const std::string stale = absl::StrCat(options_.path, ": no new record for ", absl::FormatDuration(kPatience));
    return MarkRemote(absl::UnavailableError(trouble.ok() ? stale : trouble.message()));
  }
  if (!trouble.ok() && silence >= kNoteAfter && !std::exchange(progress.is_noted, true)) {
    options_.note(absl::StrCat(trouble.message(), "; waiting for it"));
  }
  return absl::OkStatus();
}

absl::Status ViewRecords::Read(const Stream& stream, const Callbacks& callbacks) {
  Progress progress{.newest = {}, .since = options_.now()};
  do {
    absl::StatusOr<Bytes> record = RecordOf(stream.nonce);
    if (record.ok() && *record != progress.newest) {
      progress = {.newest = *std::move(record), .since = options_.now()};
      if (!callbacks.on_record(progress.newest)) return absl::OkStatus();
    } else {
      SIDEBAND_RETURN_IF_ERROR(CheckPatience(record.status(), progress));
    }
  } while (!options_.wait(kPoll));
  return absl::OkStatus();
}

}  // namespace sideband::client
