// SPDX-License-Identifier: Apache-2.0
//
// A sealer's answer, or the statement in it (the first byte decides). Both have one form: what was parsed has the same
// bytes again.
#include <algorithm>

#include "proto/exchange/messages.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

void CheckStatement(ByteSpan bytes) {
  const auto statement = exchange::ParseStatement(bytes);
  if (!statement.ok()) return;
  FUZZ_CHECK(statement->events.size() <= exchange::kStatementEventsMax);
  FUZZ_CHECK(std::ranges::equal(exchange::EncodeStatement(*statement), bytes));
}

void CheckAnswer(ByteSpan bytes) {
  const auto answer = exchange::ParseAnswer(bytes);
  if (!answer.ok()) return;
  FUZZ_CHECK(answer->certificates.size() <= exchange::kCertificatesMax);
  std::vector<Bytes> certificates;
  for (const ByteSpan one : answer->certificates) certificates.emplace_back(one.begin(), one.end());
  FUZZ_CHECK(std::ranges::equal(exchange::EncodeAnswer(answer->statement, certificates, answer->signature), bytes));
  CheckStatement(answer->statement);
}

std::vector<Bytes> Seeds() {
  const Bytes without_events = exchange::EncodeStatement({.sealer = exchange::SealerKind::kDevice});
  const Bytes statement = exchange::EncodeStatement({.boot_id = 11, .generation = 3, .events = {"l2_reads", ""}});
  return {WithFirst(0, without_events), WithFirst(0, statement),
          WithFirst(1, exchange::EncodeAnswer(statement, {Bytes(20, 1), Bytes(10, 2)}, Bytes(70, 3)))};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const sideband::ByteSpan rest(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    CheckStatement(rest);
  } else {
    CheckAnswer(rest);
  }
  return 0;
}

FUZZ_TARGET(exchange_answer_fuzz);

}  // namespace
}  // namespace sideband::fuzz
