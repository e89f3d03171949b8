// SPDX-License-Identifier: Apache-2.0
//
// A caller's history query. Every answer has a status of the API, is within its size, and has no row of another tenant.
//   Input: a first byte that selects the caller, modulo 3; then a sideband.v1.GetHistoryRequest.
#include <algorithm>
#include <iterator>
#include <string>

#include "daemon/history/history.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/history_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::FakeWorld;
using sideband::v1::GetHistoryRequest;
using sideband::v1::GetHistoryResponse;

struct Asker {
  const char* who;
  const char* vm;  // the only VM that the caller may see; nullptr: every VM except the confidential one
};
constexpr Asker kAskers[] = {{"ops", nullptr}, {"tenant-a", "vm0"}, {"tenant-b", "vm1"}};
constexpr uint64_t kPublications = 200;

// A history of three minutes of a device.
struct Past {
  Past() {
    world.store.AddListener(history);
    for (uint64_t publication = 1; publication <= kPublications; ++publication) {
      world.clock.Advance(absl::Seconds(1));
      world.Publish(0, publication);
    }
  }
  FakeWorld world;
  daemon::History history{{}, 2};
};

Past& ThePast() {
  static auto* const past = new Past();
  return *past;
}

void CheckAnswer(const Asker& asker, const GetHistoryResponse& answer) {
  FUZZ_CHECK(answer.ByteSizeLong() <= daemon::kHistoryAnswerBytesMax);
  for (const auto& device : answer.devices()) {
    for (const auto& series : device.series()) {
      FUZZ_CHECK(series.scope().vm() != "secret");
      FUZZ_CHECK(asker.vm == nullptr || series.scope().vm() == asker.vm);
      FUZZ_CHECK(series.first_point() < static_cast<uint32_t>(device.points_size()));
    }
  }
}

Bytes Seed(uint8_t asker, const GetHistoryRequest& request) {
  const std::string text = request.SerializeAsString();
  Bytes seed(text.begin(), text.end());
  seed.insert(seed.begin(), asker);
  return seed;
}

std::vector<Bytes> Seeds() {
  GetHistoryRequest narrow, steps;
  narrow.mutable_filter()->set_device("gpu0");
  narrow.mutable_filter()->set_vm("vm0");
  narrow.mutable_filter()->set_context("render");
  narrow.mutable_filter()->add_events("cycles");
  steps.mutable_since()->set_seconds(1'700'000'000);
  steps.mutable_until()->set_seconds(1'900'000'000);
  steps.mutable_until()->set_nanos(5);
  steps.mutable_step()->set_seconds(10);
  return {Seed(0, {}), Seed(1, narrow), Seed(2, steps), Seed(0, steps)};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  GetHistoryRequest request;
  if (!request.ParseFromArray(data + 1, static_cast<int>(size - 1))) return 0;
  const Asker& asker = kAskers[data[0] % std::size(kAskers)];
  Past& past = ThePast();
  const auto caller = past.world.reader.Identify(sideband::daemon::CredentialsOf(asker.who));
  const auto answer =
      sideband::daemon::HistoryReader(past.world.reader, past.world.store, past.history).Get(*caller, request);
  if (answer.ok()) {
    CheckAnswer(asker, *answer);
    return 0;
  }
  const absl::Status& status = answer.status();
  FUZZ_CHECK(absl::IsNotFound(status) || absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status));
  return 0;
}

FUZZ_TARGET(history_query_fuzz);

}  // namespace
}  // namespace sideband::fuzz
