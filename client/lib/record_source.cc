// SPDX-License-Identifier: Apache-2.0
#include "client/lib/record_source.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/lib/rpc_status.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

absl::Status DaemonRecords::Read(const Stream& stream, const Callbacks& callbacks) {
  v1::SubscribeSealedRequest request;
  request.set_device(stream.subject.device);
  request.set_vm(stream.subject.vm);
  request.set_nonce(stream.nonce.data(), stream.nonce.size());
  const StreamTick tick{.period = absl::Seconds(1), .action = [&] { return callbacks.on_second(), true; }};
  return stream.client.SubscribeSealed(request, callbacks.on_record, tick);
}

namespace {

// Magic, number, checksum and padding, and the length of each record, are less than a header.
constexpr size_t kViewBytesMax =
    envelope::kSealedViewRecordsMax * (envelope::kRecordBytesMax + envelope::kHeaderBytesMax);

bool HasNonce(ByteSpan record, const envelope::GuestNonce& nonce) {
  const absl::StatusOr<envelope::RecordView> view = envelope::ParseRecord(record);
  return view.ok() && view->header.guest_nonce == nonce;
}

}  // namespace

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
