// SPDX-License-Identifier: Apache-2.0
//
// A request for the upload buffer, a plan's stream, or its payload in a correct frame (the first byte decides). What
// was decoded survives encoding.
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/stream.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

constexpr size_t kEvents = 70;

mailbox::RotationSettings Settings() {
  mailbox::RotationSettings settings;
  settings.weights = {{3, 500}};
  return settings;
}

void CheckRequest(ByteSpan bytes) {
  const auto request = mailbox::DecodeRotationRequest(bytes, kEvents);
  if (!request.ok()) return;
  const auto again = mailbox::DecodeRotationRequest(mailbox::EncodeRotationRequest(*request), kEvents);
  FUZZ_CHECK(again.ok() && *again == *request);
}

void CheckPlan(ByteSpan stream) {
  const auto plan = mailbox::DecodePlanStream(stream, 0, kEvents);
  if (!plan.ok()) return;
  const auto again = mailbox::DecodePlanStream(mailbox::EncodePlanStream(1, 0, *plan), 0, kEvents);
  FUZZ_CHECK(again.ok() && *again == *plan);
}

std::vector<Bytes> Seeds() {
  const mailbox::RotationRequest request = {
      .vm = 1, .contexts = {0, 7}, .settings = Settings(), .events = {6, 1}, .always = {2}};
  const mailbox::RotationPlan plan = {.number = 4, .sets = {{1}, {6, 32}}, .derived = {2}, .settings = Settings()};
  const Bytes stream = mailbox::EncodePlanStream(1, 0, plan);
  const ByteSpan payload = ByteSpan(stream).subspan(mailbox::kStreamHeaderBytes);
  return {WithFirst(0, mailbox::EncodeRotationRequest(request)), WithFirst(1, stream),
          WithFirst(2, payload.first(payload.size() - mailbox::kStreamCrcBytes))};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  if (data[0] % 3 == 0) fuzz::CheckRequest(rest);
  if (data[0] % 3 == 1) fuzz::CheckPlan(rest);
  if (data[0] % 3 == 2) {
    fuzz::CheckPlan(mailbox::EncodeStream({.kind = mailbox::StreamKind::kPlan, .boot_id = 1}, rest));
  }
  return 0;
}

FUZZ_TARGET(rotation_fuzz);

}  // namespace
}  // namespace sideband::fuzz
