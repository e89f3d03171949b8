// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/async_reader.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "daemon/board/dword_reader.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::Opcode;

// Before the poll of that number; the last one holds for all further polls.
constexpr int kPausesMs[] = {0, 1, 2, 5, 10, 20, 50, 100};

// Shared by the commands of the request.
struct Job {
  AsyncQuestion question;
  std::function<void(const std::vector<uint32_t>&)> take;
  uint8_t id = 0;
  int polls = 0;
};

mailbox::CommandWord SubmitWord(const AsyncQuestion& question) {
  return BoardCommand(Opcode::kAsyncRequest, static_cast<uint8_t>(question.type));
}

absl::Duration PauseBefore(int poll) {
  return absl::Milliseconds(kPausesMs[std::min<size_t>(static_cast<size_t>(poll), std::size(kPausesMs) - 1)]);
}

void AddPoll(GroupRound& round, const std::shared_ptr<Job>& job);

// Reports a request that does not end.
void CheckEnd(GroupRound& round, const Job& job, bool has_ended) {
  round.Check(absl::StrFormat("the end of request %02x", static_cast<uint8_t>(job.question.type)), has_ended);
}

void TakePoll(GroupRound& round, const std::shared_ptr<Job>& job, AsyncStatus status) {
  const bool has_ended = !mailbox::IsUnfinished(status);
  if (!has_ended && job->polls < kAsyncPollsMax) return AddPoll(round, job);
  CheckEnd(round, *job, has_ended);
  if (status == AsyncStatus::kSuccess) AddDwords(round, ScratchReads(0, job->question.dwords), job->take);
  if (status == AsyncStatus::kNotSupported || status == AsyncStatus::kInvalidCommand) {
    round.Refuse(SubmitWord(job->question), std::nullopt);
  }
}

void AddPoll(GroupRound& round, const std::shared_ptr<Job>& job) {
  round.Add(
      {.word = BoardCommand(Opcode::kAsyncRequest, static_cast<uint8_t>(AsyncType::kPoll), job->id),
       .outputs = {.data = true},
       .take = [&round,
                job](const BoardReply& reply) { TakePoll(round, job, static_cast<AsyncStatus>(reply.data & 0xFF)); },
       // A number that the board has forgotten is no refusal of the command.
       .refuse = [](const BoardReply&) {},
       .pause = PauseBefore(job->polls++)});
}

}  // namespace

void AddAsync(GroupRound& round, const AsyncQuestion& question,
              std::function<void(const std::vector<uint32_t>&)> take) {
  const mailbox::CommandWord submit = SubmitWord(question);
  if (!round.capabilities().HasScratch() || round.IsRefused(submit, std::nullopt)) return;
  const auto job = std::make_shared<Job>(Job{question, std::move(take)});
  if (question.parameter) round.Add({.word = BoardCommand(Opcode::kScratchWrite, 0), .data = question.parameter});
  round.Add({.word = submit,
             .outputs = {.data = true},
             .take =
                 [&round, job](const BoardReply& reply) {
                   job->id = static_cast<uint8_t>(reply.data);
                   AddPoll(round, job);
                 },
             .takes_accepted = true});
}

}  // namespace sideband::daemon
