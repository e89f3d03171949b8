// SPDX-License-Identifier: Apache-2.0
//
// The law of resumption, under arbitrary lives of devices, policies and connections: what a stream that is cut and
// resumed has is what an uncut one has, but for what its gaps name; and no row is outside of the view that holds when
// it is sent.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/subscription.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;
using sideband::v1::SubscribeResponse;

constexpr size_t kEnough = 16 << 20;  // of memory for the history
constexpr char kForeignUuid[] = "00000000-0000-0000-0000-0000000000ff";

absl::Time TimeOf(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

// Counts, state and flags of each scope. Flags of turns are those of the whole row in a replay.
std::string RowsOf(const sideband::v1::Snapshot& update, bool takes_turns) {
  std::string text;
  for (const auto& row : update.scopes()) {
    absl::StrAppend(&text, "\n", row.scope().ShortDebugString(), " ", static_cast<int>(row.state()));
    for (const std::string& flag : row.flags()) {
      if (!takes_turns || (flag != "partial" && flag != "estimated")) absl::StrAppend(&text, " ", flag);
    }
    for (const auto& counter : row.counters()) absl::StrAppend(&text, " ", counter.event(), "=", counter.count());
  }
  return text;
}

// A host whose devices count, restart, change and are taken away.
class World {
 public:
  // `swaps`: VMs come and go. `grants`: the policy changes.
  World(std::shared_ptr<const Topology> topology, size_t history_bytes, bool swaps, bool grants)
      : whole_(std::move(topology)), swaps_(swaps), grants_(grants) {
    world_.topology = whole_;
    past_.history.SetMaxBytes(history_bytes);
  }
  FakeWorld& fake() { return world_; }
  const HistoryReader& past() const { return past_.reader; }

  // One thing that happens, by chance.
  void Happen() {
    // Nothing happens at the same time.
    world_.clock.Advance(absl::Milliseconds(1));
    const int what = *rc::gen::inRange(0, 100);
    if (what < 3 && grants_) return world_.policy.Replace(FakePolicy(what == 0 ? kForeignUuid : kVm0Uuid));
    if (what < 6 && swaps_) return SwapTopology();
    const auto device = static_cast<size_t>(*rc::gen::inRange(0, 3) == 0);
    world_.clock.Advance(absl::Milliseconds(*rc::gen::inRange(900, 1100)));
    if (*rc::gen::inRange(0, 40) == 0) world_.clock.Step(absl::Seconds(*rc::gen::inRange(0, 3)));
    Publish(device, /*restarts=*/what < 8);
  }

 private:
  // Without vm0, or again with it.
  void SwapTopology() {
    mailbox::Catalog catalog = whole_->catalog();
    if (world_.topology == whole_) catalog.vms.erase(catalog.vms.begin());
    world_.topology = world_.topology == whole_ ? std::make_shared<Topology>(catalog, whole_->hash() + 100) : whole_;
  }

  void Publish(size_t device, bool restarts) {
    maker_.topology = world_.topology;
    maker_.Publish(device, ++published_[device]);
    auto snapshot = std::make_shared<DeviceSnapshot>(*maker_.store.Newest(device));
    snapshot->host_time = world_.clock.Now();
    snapshot->steady_time = world_.clock.Steady();
    if (restarts) boots_[device] += 1'000;
    snapshot->data.boot_id = boots_[device];
    // Some rows stand still, and some change their state.
    for (size_t row = 0; row < snapshot->data.blocks.size(); ++row) {
      uint64_t& standing = standing_[{device, row}];
      if (*rc::gen::inRange(0, 3) == 0) standing = published_[device];
      for (uint64_t& counter : RowOf(*snapshot, row)) counter = 1000 * standing + 10 * row + counter % 10;
      if (*rc::gen::inRange(0, 30) == 0) idle_[{device, row}] ^= true;
      if (idle_[{device, row}]) snapshot->data.blocks[row].state = mailbox::BlockState::kIdle;
      if (*rc::gen::inRange(0, 60) == 0) ++generations_[{device, row}];
      snapshot->data.blocks[row].generation += generations_[{device, row}];
    }
    snapshot->estimated = snapshot->topology->rotation().ShownCounters(snapshot->data);
    world_.store.Publish(device, std::move(snapshot));
  }

  static std::span<uint64_t> RowOf(DeviceSnapshot& snapshot, size_t row) {
    const size_t events = snapshot.data.counters_per_block;
    return std::span(snapshot.data.counters).subspan(row * events, events);
  }

  using Place = std::pair<size_t, size_t>;  // device, row
  FakeWorld world_;
  FakeWorld maker_;  // of snapshots, which have no reader there
  FakePast past_{world_};
  const std::shared_ptr<const Topology> whole_;
  const bool swaps_, grants_;
  uint64_t published_[2] = {0, 0};
  uint64_t boots_[2] = {77, 88};
  std::map<Place, uint64_t> standing_;
  std::map<Place, bool> idle_;
  std::map<Place, uint32_t> generations_;
};

struct Update {
  std::string device;
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;
  absl::Time time;      // when it was latched
  absl::Time received;  // later where another policy shows what was there before
  uint64_t skipped = 0;
  std::string rows;
  bool is_whole = false;  // the first one of its device after a gap
};

struct Lapse {
  std::string device;  // empty: all
  absl::Time from, to;
};

// A reader, and what it has had.
class Client {
 public:
  Client(World& world, const ResumeTokens& tokens, std::string who, SubscribeRequest request, bool takes_turns)
      : world_(world), tokens_(tokens), who_(std::move(who)), request_(std::move(request)), takes_turns_(takes_turns) {}

  void Connect() {
    stream_.emplace(*Subscription::Create(
        {.reader = world_.fake().reader, .tokens = tokens_, .bodies = bodies_, .history = &world_.past()},
        CredentialsOf(who_), request_));
    is_resuming_ = !request_.resume_token().empty();
  }
  bool is_connected() const { return stream_.has_value(); }
  // Reads until the stream waits, but `most` messages at most.
  void Read(size_t most = ~size_t{0}) {
    for (size_t i = 0; i < most; ++i) {
      const auto step = stream_->Next();
      RC_ASSERT(!std::holds_alternative<StreamEnd>(step));
      const auto* message = std::get_if<Subscription::Message>(&step);
      if (message == nullptr) return;
      if (!message->fields.heartbeat()) Take(Whole(*message));
    }
  }
  // Unread messages are lost.
  void Cut() { stream_.reset(); }

  const std::vector<Update>& updates() const { return updates_; }
  const std::vector<Lapse>& lapses() const { return lapses_; }

 private:
  void Take(const SubscribeResponse& message) {
    RC_ASSERT(!message.resume_token().empty());
    request_.set_resume_token(message.resume_token());
    if (std::exchange(is_resuming_, false)) RC_ASSERT(message.has_resumed() || message.has_gap());
    if (message.has_gap()) {
      const auto& gap = message.gap();
      lapses_.push_back({gap.device(), gap.has_from() ? TimeOf(gap.from()) : absl::InfinitePast(), TimeOf(gap.to())});
      for (const char* device : {"gpu0", "gpu1"}) {
        if (gap.device().empty() || gap.device() == device) has_gap_[device] = true;
      }
    }
    if (!message.has_update()) return;
    const auto& update = message.update();
    CheckView(update);
    updates_.push_back({update.device(), update.boot_id(), update.snapshot_id(), TimeOf(update.host_time()),
                        world_.fake().clock.Now(), message.skipped(), RowsOf(update, takes_turns_),
                        std::exchange(has_gap_[update.device()], false)});
  }

  // By the policy in force: a tenant has its own VM's rows, and the events that it may read.
  void CheckView(const sideband::v1::Snapshot& update) const {
    if (who_ == "ops") return;
    const auto policy = world_.fake().reader.CurrentPolicy();
    const auto& grants = policy.policy->tenants()[who_ == "tenant-a" ? 0 : 1].vms;
    for (const auto& row : update.scopes()) {
      RC_ASSERT(row.scope().vm_uuid() == grants[0].vm.ToString());
      if (who_ == "tenant-a") continue;
      RC_ASSERT(row.scope().context() == "train");
      for (const auto& counter : row.counters()) RC_ASSERT(counter.event() == "cycles");
    }
  }

  World& world_;
  const ResumeTokens& tokens_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.fake().reader, *metrics_};
  const std::string who_;
  SubscribeRequest request_;
  const bool takes_turns_;
  std::optional<Subscription> stream_;
  bool is_resuming_ = false;
  std::map<std::string, bool> has_gap_;
  std::vector<Update> updates_;
  std::vector<Lapse> lapses_;
};

using Place = std::pair<std::string, uint32_t>;  // device, snapshot

std::map<Place, const Update*> ByPlace(const std::vector<Update>& updates) {
  std::map<Place, const Update*> by_place;
  for (const Update& update : updates) by_place[{update.device, update.snapshot_id}] = &update;
  return by_place;
}

// The lapses that a reader which does not keep up learns of: by `skipped`, and up to the whole state after a gap, which
// covers all that was published before.
std::vector<Lapse> SkippedBy(const Client& client) {
  std::vector<Lapse> lapses;
  std::map<std::string, absl::Time> last;
  for (const Update& update : client.updates()) {
    const auto [before, is_first] = last.try_emplace(update.device, absl::InfinitePast());
    if (update.skipped > 0 || update.is_whole || is_first)
      lapses.push_back({update.device, before->second, update.time});
    before->second = update.time;
  }
  return lapses;
}

// `has_grid`: after a gap, the sample interval's grid starts again, so that other publications are selected.
void CheckLaw(const Client& uncut, const Client& cut, bool has_grid, bool is_operator, bool keeps_up) {
  const auto wanted = ByPlace(uncut.updates());
  std::map<std::string, uint32_t> last;
  std::map<std::string, bool> had_gap;
  for (const Update& update : cut.updates()) {
    const std::string what = absl::StrCat(update.device, "#", update.snapshot_id);
    had_gap[update.device] |= update.is_whole;
    // Only the whole state that follows a gap may be one that the reader has had.
    if (update.snapshot_id <= last[update.device] && !update.is_whole) RC_FAIL(what + " came twice, or late");
    last[update.device] = update.snapshot_id;
    const auto same = wanted.find({update.device, update.snapshot_id});
    if (update.is_whole || (has_grid && had_gap[update.device])) continue;
    if (same == wanted.end()) RC_FAIL(what + " is not in the uncut stream");
    if (same->second->rows != update.rows)
      RC_FAIL(absl::StrCat(what, ":", update.rows, "\nuncut:", same->second->rows));
    RC_ASSERT(same->second->boot_id == update.boot_id);
    // To a tenant a device may come back: to this stream it is then a new one.
    if (is_operator && keeps_up && !had_gap[update.device]) RC_ASSERT(same->second->skipped == update.skipped);
  }
  std::vector<Lapse> lapses = cut.lapses();
  if (!keeps_up) std::ranges::move(SkippedBy(cut), std::back_inserter(lapses));
  const auto had = ByPlace(cut.updates());
  for (const Update& update : uncut.updates()) {
    if (had.contains({update.device, update.snapshot_id}) || (has_grid && had_gap[update.device])) continue;
    bool is_named = false;
    for (const Lapse& gap : lapses) {
      const bool is_of_device = gap.device.empty() || gap.device == update.device;
      is_named |= is_of_device && gap.from < update.received && update.time <= gap.to;
    }
    if (!is_named) RC_FAIL(absl::StrCat(update.device, "#", update.snapshot_id, " is missing without a gap"));
  }
}

TEST(ResumptionPropertyTest, ACutStreamHasWhatAnUncutOneHasButForItsGaps) {
  size_t resumptions = 0, gaps = 0, updates = 0;
  const bool holds = rc::check([&] {
    const int kind = *rc::gen::inRange(0, 4);
    const bool takes_turns = kind == 3;
    const std::string who = *rc::gen::element<std::string>("ops", "tenant-a", "tenant-b");
    // Otherwise devices go on while it is told of what it has missed.
    const bool keeps_up = *rc::gen::inRange(0, 3) != 0;
    const auto history_bytes = *rc::gen::element<size_t>(0, 6 << 10, 24 << 10, kEnough, kEnough);
    // A device that a tenant saw for a part of the time only is known by the history alone.
    World world(takes_turns ? RotatingTopology()
                : kind == 2 ? GatedTopology()
                            : FakeTopology(),
                history_bytes,
                /*swaps=*/keeps_up && (who == "ops" || history_bytes == kEnough), /*grants=*/keeps_up);
    const auto tokens = *ResumeTokens::Create();
    SubscribeRequest request = EndlessRequest();
    // Who has skipped an update has more changes in the next one, and another grid.
    request.set_suppress_redundant(!takes_turns && keeps_up && *rc::gen::arbitrary<bool>());
    if (*rc::gen::arbitrary<bool>()) request.mutable_heartbeat_interval()->set_seconds(*rc::gen::inRange(1, 8));
    const bool has_grid = keeps_up && *rc::gen::inRange(0, 3) == 0;
    if (has_grid) request.mutable_sample_interval()->set_seconds(*rc::gen::inRange(3, 6));
    Client uncut(world, *tokens, who, request, takes_turns), cut(world, *tokens, who, request, takes_turns);
    uncut.Connect();
    cut.Connect();
    // A reader that has had nothing has no token.
    uncut.Read();
    cut.Read();
    const int steps = *rc::gen::inRange(1, 80);
    for (int i = 0; i < steps; ++i) {
      world.Happen();
      uncut.Read();
      if (!cut.is_connected()) {
        if (*rc::gen::inRange(0, 3) != 0) continue;
        cut.Connect();
        ++resumptions;
      }
      if (*rc::gen::inRange(0, 4) != 0) {
        cut.Read();
        continue;
      }
      cut.Read(*rc::gen::inRange<size_t>(0, 4));
      if (keeps_up || *rc::gen::arbitrary<bool>()) cut.Cut();
    }
    if (!cut.is_connected()) cut.Connect();
    cut.Read();
    CheckLaw(uncut, cut, has_grid, /*is_operator=*/who == "ops", keeps_up);
    gaps += cut.lapses().size();
    updates += uncut.updates().size();
  });
  EXPECT_TRUE(holds);
  std::cout << resumptions << " resumptions, " << gaps << " gaps, " << updates << " updates of uncut streams\n";
  EXPECT_GT(resumptions, 100u);
  EXPECT_GT(gaps, 20u);
  EXPECT_LT(gaps, 2 * resumptions) << "nearly nothing is resumed";
}

}  // namespace
}  // namespace sideband::daemon
