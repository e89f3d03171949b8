// SPDX-License-Identifier: Apache-2.0
#include "client/lib/register_counters.h"

#include <array>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::client {
namespace {

constexpr uint8_t kHalfBytes = 4;

constexpr uint64_t kHpccFields = hpc::kHpccTrigger | hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccReaderror |
                                 hpc::kHpccExtend | hpc::kHpccModule | hpc::kHpccUseren | hpc::kHpccRefused |
                                 hpc::kHpccStamp;

absl::Status Refused() {
  return absl::PermissionDeniedError("refused: no such counter, or no right to read it by registers");
}

absl::Status Absent(uint64_t hpcc) {
  return absl::UnavailableError(absl::StrFormat("no such registers: hpcc reads %016x", hpcc));
}

// A device that is gone reads as ones.
absl::Status CheckPresent(uint64_t hpcc) { return (hpcc & ~kHpccFields) == 0 ? absl::OkStatus() : Absent(hpcc); }

// Where nothing is in the FIFO. Memory that is no register reads as zeros, or as what was written into it.
absl::Status CheckEmpty(uint64_t hpcc) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresent(hpcc));
  return (hpcc & hpc::kHpccEmpty) != 0 ? absl::OkStatus() : Absent(hpcc);
}

// Tells what happened to a request.
absl::Status CheckHpcc(uint64_t hpcc) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresent(hpcc));
  if ((hpcc & hpc::kHpccInterrupted) != 0) return absl::AbortedError("interrupted by a switch");
  return (hpcc & hpc::kHpccRefused) != 0 ? Refused() : absl::OkStatus();
}

// One request for counters of a manager, and its attempts.
class Request {
 public:
  Request(RegisterPage& page, HpcManager manager, uint64_t bitmap, const ReadOptions& options)
      : batch_(page, options.access_bytes),
        options_(options),
        deadline_(SteadyNow() + options.patience),
        id_(uint64_t{manager.module} << hpc::kHpccModuleLsb | uint64_t{manager.extend} << hpc::kHpccExtendLsb),
        bitmap_(bitmap),
        words_(static_cast<size_t>(std::popcount(bitmap)) + (options.stamp ? 1 : 0)) {}

  // A supervisor's write of hpcc also writes useren. Nothing is written to a page without these registers.
  absl::Status KeepUseren() {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t hpcc, ReadHpcc());
    SIDEBAND_RETURN_IF_ERROR(CheckPresent(hpcc));
    useren_ = hpcc & hpc::kHpccUseren;
    return (hpcc & (hpc::kHpccTrigger | hpc::kHpccEmpty)) == 0 ? TakeLeftovers() : absl::OkStatus();
  }

  // One attempt; ABORTED if it was interrupted, OUT_OF_RANGE if values were taken that were not there.
  absl::StatusOr<Reading> Try(Reader reader, bool cancel_first) {
    if (cancel_first) batch_.Write(hpc::kHpccOffset, useren_);
    batch_.Write(hpc::kHpcmOffset, bitmap_);
    batch_.Read(hpc::kHpccOffset);
    is_start_unchecked_ = true;
    batch_.Write(hpc::kHpccOffset, id_ | useren_ | hpc::kHpccTrigger | (options_.stamp ? hpc::kHpccStamp : 0));
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<uint64_t> words, Take(reader));
    Reading reading;
    if (options_.stamp) {
      reading.stamp = words.front();
      words.erase(words.begin());
    }
    reading.values = std::move(words);
    return reading;
  }

  // For a caller that gives up, so that the next one finds no request under way.
  void Cancel() {
    batch_.Write(hpc::kHpccOffset, useren_);
    batch_.Perform().IgnoreError();
  }

 private:
  // Returns the values that the batch has read. The batch of a request begins with hpcc after the write of hpcm.
  absl::StatusOr<std::vector<uint64_t>> Perform() {
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<uint64_t> read, batch_.Perform());
    if (!std::exchange(is_start_unchecked_, false)) return read;
    SIDEBAND_RETURN_IF_ERROR(CheckEmpty(read.front()));
    read.erase(read.begin());
    return read;
  }

  absl::StatusOr<uint64_t> ReadHpcc() {
    batch_.Read(hpc::kHpccOffset);
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint64_t> read, Perform());
    return read.front();
  }

  // An earlier request may have left values.
  absl::Status TakeLeftovers() {
    for (uint32_t i = 0; i < hpc::kFifoWords; ++i) batch_.Read(hpc::kHpcrOffset);
    batch_.Read(hpc::kHpccOffset);
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint64_t> read, Perform());
    return CheckEmpty(read.back());
  }

  // Until `field` of hpcc is 0.
  absl::Status Await(uint64_t field) {
    while (true) {
      SIDEBAND_ASSIGN_OR_RETURN(const uint64_t hpcc, ReadHpcc());
      SIDEBAND_RETURN_IF_ERROR(CheckHpcc(hpcc));
      if ((hpcc & field) == 0) return absl::OkStatus();
      if (SteadyNow() >= deadline_) {
        return absl::DeadlineExceededError(absl::StrCat("no values within ", absl::FormatDuration(options_.patience)));
      }
    }
  }

  absl::StatusOr<std::vector<uint64_t>> Take(Reader reader) {
    // Whether a request for nothing is refused shows in hpcc alone.
    if (reader == Reader::kEager && words_ > 0) return TakeEagerly();
    if (reader != Reader::kOptimistic) SIDEBAND_RETURN_IF_ERROR(Await(hpc::kHpccTrigger));
    return TakeTogether();
  }

  absl::StatusOr<std::vector<uint64_t>> TakeEagerly() {
    std::vector<uint64_t> words;
    while (words.size() < words_) {
      SIDEBAND_RETURN_IF_ERROR(Await(hpc::kHpccEmpty));
      batch_.Read(hpc::kHpcrOffset);
      SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint64_t> read, Perform());
      words.push_back(read.front());
    }
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t hpcc, ReadHpcc());
    SIDEBAND_RETURN_IF_ERROR(CheckEnd(hpcc));
    return words;
  }

  absl::StatusOr<std::vector<uint64_t>> TakeTogether() {
    for (size_t i = 0; i < words_; ++i) batch_.Read(hpc::kHpcrOffset);
    batch_.Read(hpc::kHpccOffset);
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<uint64_t> words, Perform());
    const uint64_t hpcc = words.back();
    words.pop_back();
    SIDEBAND_RETURN_IF_ERROR(CheckEnd(hpcc));
    return words;
  }

  // Whether what was read is the answer to this request.
  static absl::Status CheckEnd(uint64_t hpcc) {
    SIDEBAND_RETURN_IF_ERROR(CheckHpcc(hpcc));
    const bool is_complete = (hpcc & (hpc::kHpccTrigger | hpc::kHpccReaderror)) == 0;
    return is_complete ? absl::OkStatus() : absl::OutOfRangeError("values are missing");
  }

  RegisterBatch batch_;
  const ReadOptions& options_;
  const absl::Duration deadline_;
  const uint64_t id_;
  const uint64_t bitmap_;
  const size_t words_;
  uint64_t useren_ = 0;
  bool is_start_unchecked_ = false;
};

// Whether the next attempt may do better.
bool IsTransient(const absl::Status& status) { return absl::IsAborted(status) || absl::IsOutOfRange(status); }

// The first attempt by the reader asked for. Where that one was too optimistic, the next must be patient.
absl::StatusOr<Reading> TryOnce(Request& request, const ReadOptions& options, bool cancel_first) {
  absl::StatusOr<Reading> reading = request.Try(options.reader, cancel_first);
  if (options.reader != Reader::kOptimistic || !absl::IsOutOfRange(reading.status())) return reading;
  return request.Try(Reader::kPatient, /*cancel_first=*/true);
}

constexpr uint64_t kNoContext = 0xFFFF;

constexpr uint64_t If(bool set, uint64_t field) { return set ? field : 0; }
constexpr bool Has(uint64_t word, uint64_t field) { return (word & field) != 0; }

hpc::PageAccess WriteAt(uint32_t offset, uint64_t value) {
  return hpc::WriteOf(static_cast<uint16_t>(offset), 8, value);
}
hpc::PageAccess ReadAt(uint32_t offset) { return hpc::ReadOf(static_cast<uint16_t>(offset), 8); }

absl::Status Absent() {
  return absl::UnavailableError("no counting registers: the page is a user's, or the device has no gate groups");
}

uint64_t ControlWord(const GateValue& value) {
  return If(value.master, hpc::kGateControlMaster) | If(value.vector_enable, hpc::kGateControlVectorEnable);
}

GateValue ValueOf(uint64_t vector, uint64_t control) {
  return {.master = Has(control, hpc::kGateControlMaster),
          .vector_enable = Has(control, hpc::kGateControlVectorEnable),
          .vector = vector};
}

// Where there are no registers, even the number of no context reads 0.
absl::Status CheckPresence(RegisterPage& page) {
  std::array accesses = {WriteAt(hpc::kGateContextOffset, kNoContext), ReadAt(hpc::kGateContextOffset)};
  SIDEBAND_RETURN_IF_ERROR(page.Perform(accesses));
  return accesses[1].value == kNoContext ? absl::OkStatus() : Absent();
}

// Performs the accesses to a context's control block, of which the last reads the number of the context, until no other
// thread of the supervisor has come in between.
absl::Status PerformFor(RegisterPage& page, uint16_t context, std::span<hpc::PageAccess> accesses) {
  for (uint32_t attempt = 0; attempt < hpc::kAttemptsMax; ++attempt) {
    SIDEBAND_RETURN_IF_ERROR(page.Perform(accesses));
    if (accesses.back().value == context) return absl::OkStatus();
  }
  return absl::AbortedError("interrupted by other threads of the supervisor");
}

}  // namespace

void RegisterBatch::Write(uint16_t offset, uint64_t value) {
  accesses_.push_back(hpc::WriteOf(offset, access_bytes_, value));
  if (access_bytes_ == kHalfBytes) accesses_.push_back(hpc::WriteOf(offset + kHalfBytes, kHalfBytes, value >> 32));
}

void RegisterBatch::Read(uint16_t offset) {
  accesses_.push_back(hpc::ReadOf(offset, access_bytes_));
  if (access_bytes_ == kHalfBytes) accesses_.push_back(hpc::ReadOf(offset + kHalfBytes, kHalfBytes));
}

absl::StatusOr<std::vector<uint64_t>> RegisterBatch::Perform() {
  std::vector<hpc::PageAccess> accesses = std::exchange(accesses_, {});
  SIDEBAND_RETURN_IF_ERROR(page_.Perform(accesses));
  std::vector<uint64_t> read;
  for (const hpc::PageAccess& access : accesses) {
    if (access.kind != hpc::AccessKind::kRead) continue;
    if (access.offset % 8 == kHalfBytes) {
      read.back() |= access.value << 32;
    } else {
      read.push_back(access.value);
    }
  }
  return read;
}

absl::StatusOr<Reading> GetCounters(RegisterPage& page, HpcManager manager, uint64_t bitmap,
                                    const ReadOptions& options) {
  Request request(page, manager, bitmap, options);
  if (!options.is_user) SIDEBAND_RETURN_IF_ERROR(request.KeepUseren());
  const absl::StatusOr<Reading> reading = TryOnce(request, options, /*cancel_first=*/false);
  const absl::Status& status = reading.status();
  if (IsTransient(status) || absl::IsDeadlineExceeded(status)) request.Cancel();
  return IsTransient(status) ? absl::AbortedError(status.message()) : reading;
}

absl::StatusOr<Reading> GetCountersShared(RegisterPage& page, HpcManager manager, uint64_t bitmap,
                                          const ReadOptions& options) {
  Request request(page, manager, bitmap, options);
  if (!options.is_user) SIDEBAND_RETURN_IF_ERROR(request.KeepUseren());
  absl::StatusOr<Reading> reading;
  for (uint32_t attempt = 0; attempt < hpc::kAttemptsMax; ++attempt) {
    reading = TryOnce(request, options, /*cancel_first=*/true);
    if (!IsTransient(reading.status())) break;
  }
  const absl::Status& status = reading.status();
  if (IsTransient(status) || absl::IsDeadlineExceeded(status)) request.Cancel();
  if (!IsTransient(status)) return reading;
  return absl::UnavailableError(absl::StrCat("interrupted in each of ", hpc::kAttemptsMax, " attempts"));
}

absl::StatusOr<EventReading> ReadEvents(RegisterPage& page, uint16_t module, const std::vector<uint16_t>& events,
                                        const ReadOptions& options) {
  std::map<uint8_t, uint64_t> bitmaps;  // per extend
  for (const uint16_t event : events) {
    bitmaps[static_cast<uint8_t>(event / hpc::kCountersPerManager)] |= uint64_t{1} << event % hpc::kCountersPerManager;
  }
  EventReading reading{.counts = std::vector<uint64_t>(events.size()),
                       .stamps = std::vector<uint64_t>(options.stamp ? events.size() : 0)};
  for (const auto& [extend, bitmap] : bitmaps) {
    const auto get = options.is_shared ? GetCountersShared : GetCounters;
    SIDEBAND_ASSIGN_OR_RETURN(const Reading part, get(page, {module, extend}, bitmap, options));
    for (size_t i = 0; i < events.size(); ++i) {
      if (events[i] / hpc::kCountersPerManager != extend) continue;
      const uint64_t below = (uint64_t{1} << events[i] % hpc::kCountersPerManager) - 1;
      reading.counts[i] = part.values[static_cast<size_t>(std::popcount(bitmap & below))];
      if (part.stamp) reading.stamps[i] = *part.stamp;
    }
  }
  return reading;
}

absl::StatusOr<uint16_t> FindModule(RegisterPage& page, uint16_t first, uint16_t count, const ReadOptions& options) {
  ReadOptions nothing = options;
  nothing.stamp = false;
  for (uint16_t module = first; module < first + count; ++module) {
    const auto reading = GetCountersShared(page, {module, /*extend=*/0}, /*bitmap=*/0, nothing);
    if (reading.ok()) return module;
    if (!absl::IsPermissionDenied(reading.status())) return reading.status();
  }
  return Refused();
}

absl::StatusOr<GateValue> ReadGate(RegisterPage& page) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  std::array accesses = {ReadAt(hpc::kGateVectorOffset), ReadAt(hpc::kGateControlOffset)};
  SIDEBAND_RETURN_IF_ERROR(page.Perform(accesses));
  return ValueOf(accesses[0].value, accesses[1].value);
}

absl::Status WriteGate(RegisterPage& page, const GateValue& value) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  std::array accesses = {WriteAt(hpc::kGateVectorOffset, value.vector),
                         WriteAt(hpc::kGateControlOffset, ControlWord(value))};
  return page.Perform(accesses);
}

absl::StatusOr<ContextGate> ReadContextGate(RegisterPage& page, uint16_t context) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  std::array accesses = {WriteAt(hpc::kGateContextOffset, context), ReadAt(hpc::kGateContextVectorOffset),
                         ReadAt(hpc::kGateContextControlOffset), ReadAt(hpc::kGateContextOffset)};
  SIDEBAND_RETURN_IF_ERROR(PerformFor(page, context, accesses));
  const uint64_t control = accesses[2].value;
  return ContextGate{.value = ValueOf(accesses[1].value, control),
                     .load = Has(control, hpc::kGateContextControlLoad),
                     .store = Has(control, hpc::kGateContextControlStore)};
}

absl::Status WriteContextGate(RegisterPage& page, uint16_t context, const ContextGate& control) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  const uint64_t word = ControlWord(control.value) | If(control.load, hpc::kGateContextControlLoad) |
                        If(control.store, hpc::kGateContextControlStore);
  std::array accesses = {WriteAt(hpc::kGateContextOffset, context),
                         WriteAt(hpc::kGateContextVectorOffset, control.value.vector),
                         WriteAt(hpc::kGateContextControlOffset, word), ReadAt(hpc::kGateContextControlOffset),
                         ReadAt(hpc::kGateContextOffset)};
  SIDEBAND_RETURN_IF_ERROR(PerformFor(page, context, accesses));
  if (accesses[3].value == word) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("the VM has no context ", context));
}

}  // namespace sideband::client
