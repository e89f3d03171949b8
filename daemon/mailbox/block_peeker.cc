// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/block_peeker.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;
using mailbox::PeekAnswer;
using mailbox::PeekQuestion;

// The number of counters whose stream fits into the windows that one command opens.
int CountersMax(uint32_t window_bytes) {
  const size_t span = mailbox::WindowSpanBytes(window_bytes), fixed = mailbox::PeekStreamBytes(0);
  return span < fixed ? 0 : static_cast<int>(std::min((span - fixed) / 8, mailbox::kPeekCountersMax));
}

// Another controller's command, or a damaged byte, may be the cause: also of a refusal, since SCOPE may have been its.
bool IsWorthAnotherAttempt(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsDataLoss(status) || absl::IsNotFound(status) || absl::IsUnavailable(status);
}

bool IsOfSameLatch(const PeekAnswer& a, const PeekAnswer& b) {
  return a.boot_id == b.boot_id && a.generation == b.generation && a.reference_cycle == b.reference_cycle;
}

absl::Duration TimeOf(const std::vector<PeekQuestion>& questions, uint32_t bus_hz, uint32_t window_bytes) {
  uint64_t bit_times = 0;
  for (const PeekQuestion& question : questions) {
    bit_times += mailbox::PeekBitTimes(std::popcount(question.bitmap), window_bytes);
  }
  return absl::Seconds(1) * static_cast<int64_t>(bit_times) / static_cast<int64_t>(bus_hz);
}

absl::Status CheckIdentity(const PeekAnswer& answer, const PeekQuery& query) {
  if (answer.boot_id != query.boot_id) return absl::AbortedError("PEEK: the device has restarted");
  if (answer.generation != query.generation) return absl::AbortedError("PEEK: the counters have started from 0 again");
  return absl::OkStatus();
}

// The three steps of a peek, each of which runs once: after interference, ABORTED, all of them have to be repeated.
// NOT_FOUND if the device does not have the block or an event, as far as the step names it.
absl::StatusOr<MailboxReply> RunPeek(MailboxSession& session, const MailboxRequest& request) {
  auto reply = session.RunOnce(request);
  if (!absl::IsInvalidArgument(reply.status())) return reply;
  return absl::NotFoundError("PEEK: the device does not have the block, or not with these events");
}

absl::Status SetPeekScope(MailboxSession& session, const PeekQuestion& question) {
  return RunPeek(session, {.command = ExtensionCommand(Opcode::kPeek, static_cast<uint8_t>(mailbox::PeekStep::kScope)),
                           .data = question.manager,
                           .extended_data = uint32_t{question.context} << 16 | question.vm,
                           .output = MailboxOutput::kNothing})
      .status();
}

absl::StatusOr<uint32_t> LatchPeek(MailboxSession& session, uint64_t bitmap) {
  const CommandWord command = session.StreamCommand(Opcode::kPeek, static_cast<uint8_t>(mailbox::PeekStep::kGo));
  // The length of the stream is not read, since it follows from the bitmap.
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            RunPeek(session, {.command = command,
                                              .data = static_cast<uint32_t>(bitmap),
                                              .extended_data = static_cast<uint32_t>(bitmap >> 32),
                                              .output = MailboxOutput::kExtendedData}));
  return reply.extended_data;
}

absl::StatusOr<PeekAnswer> ReadPeek(MailboxSession& session, const PeekQuestion& question, uint32_t tag) {
  const size_t counters = static_cast<size_t>(std::popcount(question.bitmap));
  SecretBytes bytes;
  SIDEBAND_RETURN_IF_ERROR(session.ReadSpan(static_cast<uint32_t>(mailbox::PeekStreamBytes(counters)), bytes));
  auto answer = mailbox::DecodePeekStream(bytes);
  if (!answer.ok()) return absl::DataLossError(answer.status().message());
  // Another controller's scope, bitmap or GO has come in between.
  if (answer->question != question || answer->tag != tag) return session.Interference();
  return answer;
}

}  // namespace

std::vector<PeekQuestion> QuestionsOf(const PeekQuery& query, uint32_t window_bytes) {
  const int counters_max = CountersMax(window_bytes);
  std::vector<PeekQuestion> questions;
  if (counters_max == 0) return questions;
  for (const uint16_t event : query.events) {
    const uint32_t extend = mailbox::ExtendOf(event);
    const bool fits = !questions.empty() && (questions.back().manager & mailbox::kPeekExtendMask) == extend &&
                      std::popcount(questions.back().bitmap) < counters_max;
    if (!fits) {
      const uint32_t same_latch = questions.empty() ? 0 : mailbox::kPeekSameLatch;
      questions.push_back({.manager = same_latch | extend, .vm = query.vm, .context = query.context});
    }
    questions.back().bitmap |= mailbox::BitOf(event);
  }
  return questions;
}

absl::Duration PeekTime(const PeekQuery& query, uint32_t bus_hz, uint32_t window_bytes) {
  return TimeOf(QuestionsOf(query, window_bytes), bus_hz, window_bytes);
}

absl::Duration PeekLeadTime(const PeekQuery& query, uint32_t bus_hz, uint32_t window_bytes) {
  auto questions = QuestionsOf(query, window_bytes);
  if (!questions.empty()) questions.pop_back();
  return TimeOf(questions, bus_hz, window_bytes);
}

absl::Status GaveWay() { return absl::CancelledError("PEEK: a snapshot is due"); }

absl::StatusOr<uint32_t> BlockPeeker::Latch(uint64_t bitmap, Reading& reading) {
  const absl::Duration start = clock_.Steady();
  // An answer with the tag was latched before the tag was read, also if another controller asked for it.
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t tag, LatchPeek(session_, bitmap));
  const absl::Duration end = clock_.Steady();
  // Read after the latch: if the wall clock is set meanwhile, the new time is used.
  reading.latched = PlaceBySteady(ReadWall(clock_), start, end);
  return tag;
}

absl::StatusOr<BlockPeeker::Reading> BlockPeeker::ReadOnce(const std::vector<PeekQuestion>& questions,
                                                           absl::Duration due) {
  Reading reading;
  for (const PeekQuestion& question : questions) {
    const bool is_first = reading.answers.empty();
    if (!is_first && IsDue(due)) return GaveWay();
    SIDEBAND_RETURN_IF_ERROR(SetPeekScope(session_, question));
    SIDEBAND_ASSIGN_OR_RETURN(const uint32_t tag,
                              is_first ? Latch(question.bitmap, reading) : LatchPeek(session_, question.bitmap));
    SIDEBAND_ASSIGN_OR_RETURN(PeekAnswer answer, ReadPeek(session_, question, tag));
    if (!is_first && !IsOfSameLatch(reading.answers.front(), answer)) {
      return absl::AbortedError("PEEK: the answers belong to several instants");
    }
    reading.answers.push_back(std::move(answer));
  }
  return reading;
}

absl::StatusOr<BlockPeeker::Reading> BlockPeeker::Read(const std::vector<PeekQuestion>& questions, absl::Duration due) {
  auto reading = ReadOnce(questions, due);
  for (int attempt = 1; attempt < kAttemptsMax && IsWorthAnotherAttempt(reading.status()); ++attempt) {
    if (IsDue(due)) return GaveWay();
    on_retry_();
    session_.GiveWay();
    reading = ReadOnce(questions, due);
  }
  return reading;
}

absl::Status BlockPeeker::CheckSupport() const {
  if (!session_.Has(mailbox::kPeekFeature)) return absl::UnimplementedError("the device does not answer peeks");
  if (CountersMax(session_.window_bytes()) > 0) return absl::OkStatus();
  return absl::UnimplementedError("the blocks of the bus adapter are too short for a peek");
}

absl::StatusOr<PeekedBlock> BlockPeeker::Peek(const PeekQuery& query, absl::Duration due) {
  SIDEBAND_RETURN_IF_ERROR(CheckSupport());
  const std::vector<PeekQuestion> questions = QuestionsOf(query, session_.window_bytes());
  SIDEBAND_ASSIGN_OR_RETURN(const Reading reading, Read(questions, due));
  const PeekAnswer& first = reading.answers.front();
  SIDEBAND_RETURN_IF_ERROR(CheckIdentity(first, query));
  PeekedBlock block{.reference_time_ns = first.reference_time_ns,
                    .flags = first.flags,
                    .host_time = reading.latched.time,
                    .host_time_error = reading.latched.error};
  // Questions and bits ascend as the query's events do.
  for (const PeekAnswer& answer : reading.answers) {
    block.counters.insert(block.counters.end(), answer.counters.begin(), answer.counters.end());
  }
  return block;
}

}  // namespace sideband::daemon
