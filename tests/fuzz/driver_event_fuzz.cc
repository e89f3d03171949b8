// SPDX-License-Identifier: Apache-2.0
//
// A driver's message from a hostile board. A decoded one has its bounds, is printable and survives encoding, which
// shortens a text without room for its terminating zero.
#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "proto/mailbox/services.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using mailbox::DriverEvent;

bool IsPrintable(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); });
}

DriverEvent Shortened(DriverEvent event) {
  if (event.text.size() < DriverEvent::kTextBytesMax) return event;
  event.text.resize(DriverEvent::kTextBytesMax - 1);
  event.text_truncated = true;
  return event;
}

std::vector<Bytes> Seeds() {
  const DriverEvent plain{.xid = 63, .sequence = 1, .time_s = 1'700'000'000, .text = "Row remapping pending"};
  const DriverEvent high{.xid = 0x1FF, .later_lost = true, .sequence = 0xFFFF'FFFF, .text = std::string(100, 'x')};
  std::vector<Bytes> seeds = {plain.Encode(), high.Encode(), DriverEvent{}.Encode()};
  // A board sends it within scratch memory, with older bytes behind it. And one without a terminating zero.
  seeds.push_back(seeds[0]);
  seeds.back().resize(1024, 0xA5);
  seeds.push_back(seeds[1]);
  seeds.back().back() = 'y';
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  const auto event = mailbox::DriverEvent::Decode({data, size});
  if (!event.ok()) return 0;
  FUZZ_CHECK(event->text.size() <= mailbox::DriverEvent::kTextBytesMax);
  FUZZ_CHECK(IsPrintable(event->text));
  const Bytes encoded = event->Encode();
  FUZZ_CHECK(encoded.size() % 4 == 0 && encoded.size() <= mailbox::DriverEvent::kBytesMax);
  const auto again = mailbox::DriverEvent::Decode(encoded);
  FUZZ_CHECK(again.ok() && *again == Shortened(*event));
  return 0;
}

FUZZ_TARGET(driver_event_fuzz);

}  // namespace
}  // namespace sideband::fuzz
