// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/collector_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/fake_context.h"
#include "daemon/collector/routers.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/store.h"
#include "daemon/transport/transport.h"
#include "proto/base/wait_until.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using mailbox::Opcode;
using testing::ElementsAre;

constexpr absl::Duration kTick = absl::Microseconds(10);

// Time passes when it is read: the thread's own reads move it on, whatever the real time is.
class TickingClock final : public Clock {
 public:
  explicit TickingClock(FakeClock& clock) : clock_(clock) {}
  absl::Time Now() const override { return clock_.Now(); }
  absl::Duration Steady() const override {
    clock_.Advance(kTick);
    return clock_.Steady();
  }

 private:
  FakeClock& clock_;
};

// Keeps the published snapshots. Thread-safe.
class Publications final : public PublicationListener {
 public:
  explicit Publications(Store& store) : store_(store) { store_.AddListener(*this); }
  ~Publications() override { store_.RemoveListener(*this); }
  void OnPublish(size_t, const std::shared_ptr<const DeviceSnapshot>& snapshot) override {
    absl::MutexLock lock(&mu_);
    snapshots_.push_back(snapshot);
  }
  // Waits for the first `count` of them.
  std::vector<std::shared_ptr<const DeviceSnapshot>> Await(size_t count) {
    WaitUntil([&] { return this->count() >= count; }, absl::StrCat(count, " snapshots"));
    absl::MutexLock lock(&mu_);
    return {snapshots_.begin(), snapshots_.begin() + static_cast<ptrdiff_t>(count)};
  }
  size_t count() {
    absl::MutexLock lock(&mu_);
    return snapshots_.size();
  }

 private:
  Store& store_;
  absl::Mutex mu_;
  std::vector<std::shared_ptr<const DeviceSnapshot>> snapshots_ ABSL_GUARDED_BY(mu_);
};

// The device is used by the collector's thread: tests set it up before Start() and look at it after Stop().
class CollectorThreadTest : public testing::Test {
 protected:
  void Make(absl::Duration interval, const Clock& clock) {
    SetInterval(interval);
    auto device = std::make_unique<FakeMailbox>();
    device_ = device.get();
    thread_ = std::make_unique<CollectorThread>(0, std::move(device), FakeMailbox::kAddress, fakes_.Get(clock));
  }
  void SetInterval(absl::Duration interval) {
    fakes_.store.SetDevices(
        {{0, std::make_shared<const DeviceInfo>(DeviceInfo{.name = "gpu0", .interval = interval})}});
  }
  // Runs the thread until a stop is requested in the transaction with this number.
  void RequestStopIn(size_t transaction) {
    absl::Notification requested;
    device_->before = [&](const smbus::Transfer&) {
      if (device_->transfers.size() != transaction) return;
      thread_->RequestStop();
      requested.Notify();
    };
    thread_->Start();
    WaitUntil(requested, absl::StrCat("transaction ", transaction));
    thread_->Stop();
  }
  size_t Latches() const { return device_->CommandsOf(Opcode::kLatch).size(); }

  FakeContext fakes_;
  const TickingClock ticking_{fakes_.clock};
  Publications published_{fakes_.store};
  BusDirectory buses_;
  // Stop() waits for the thread.
  const TimeLimit limit_{"the end of a collector's thread"};
  PeekRouter router_{buses_, fakes_.store, *fakes_.metrics, fakes_.clock};
  TriggerRouter triggers_{buses_};
  FakeMailbox* device_ = nullptr;  // the thread's own
  std::unique_ptr<CollectorThread> thread_;
};

TEST_F(CollectorThreadTest, TheFirstSnapshotIsTakenAtOnce) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Start();
  const auto first = published_.Await(1)[0];
  thread_->Stop();
  EXPECT_EQ(first->host_time, fakes_.clock.Now());
  EXPECT_EQ(published_.count(), 1u);
}

TEST_F(CollectorThreadTest, TheThreadNeedNotBeStarted) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Stop();
  EXPECT_TRUE(device_->transfers.empty());
}

TEST_F(CollectorThreadTest, StopIsForGoodAndMayBeRepeated) {
  Make(absl::Milliseconds(1), ticking_);
  thread_->Start();
  published_.Await(2);
  thread_->Stop();
  const size_t until_then = device_->transfers.size();
  thread_->Reconsider();
  thread_->Stop();
  EXPECT_EQ(device_->transfers.size(), until_then);
}

TEST_F(CollectorThreadTest, TheDestructorStopsTheThread) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Start();
  published_.Await(1);
  thread_.reset();
  EXPECT_EQ(published_.count(), 1u);
}

TEST_F(CollectorThreadTest, AStopRequestEndsTheWaitForTheNextSnapshot) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Start();
  published_.Await(1);
  thread_->RequestStop();
  thread_->Stop();  // would take an hour
  EXPECT_EQ(Latches(), 1u);
}

TEST_F(CollectorThreadTest, AStopRequestBeforeTheStartIsKept) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->RequestStop();
  thread_->Start();
  thread_->Stop();
  EXPECT_TRUE(device_->transfers.empty());
}

TEST_F(CollectorThreadTest, ACollectionEndsAfterTheTransactionInWhichTheStopIsRequested) {
  // Transactions 1 and 2 read the signature, 3 the status, then come DISCOVER, LATCH, the first window (13) and
  // CATALOG.
  for (const size_t last : {1, 2, 3, 4, 8, 13, 15}) {
    Make(absl::Hours(1), fakes_.clock);
    RequestStopIn(last);
    EXPECT_EQ(device_->transfers.size(), last);
  }
  EXPECT_EQ(published_.count(), 0u);
}

TEST_F(CollectorThreadTest, AStopRequestEndsTheWaitForABusyDevice) {
  Make(absl::Hours(1), fakes_.clock);
  device_->busy_polls = 1'000'000;
  RequestStopIn(7);
  EXPECT_TRUE(IsReadOf(device_->transfers.back(), mailbox::kCommandRegister));
  EXPECT_EQ(device_->transfers.size(), 7u) << "no other poll";
}

TEST_F(CollectorThreadTest, SnapshotsAreTakenOnTheGridOfTheInterval) {
  const absl::Duration interval = absl::Milliseconds(1);
  Make(interval, ticking_);
  const absl::Duration start = fakes_.clock.Steady();
  // The second collection takes two and a half intervals after its latch.
  bool was_slow = false;
  device_->before = [&](const smbus::Transfer&) {
    if (Latches() == 2 && !std::exchange(was_slow, true)) fakes_.clock.Advance(2.5 * interval);
  };
  thread_->Start();
  std::vector<int64_t> slots;
  for (const auto& snapshot : published_.Await(4)) slots.push_back((snapshot->steady_time - start) / interval);
  thread_->Stop();
  EXPECT_THAT(slots, ElementsAre(0, 1, 4, 5)) << "missed intervals are not caught up";
}

TEST_F(CollectorThreadTest, AChangedIntervalTakesEffectAtOnce) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Start();
  published_.Await(1);
  for (size_t hours = 2; hours <= 3; ++hours) {
    SetInterval(static_cast<int>(hours) * absl::Hours(1));
    thread_->Reconsider();
    published_.Await(hours);  // at the same time of the clock, which stands
  }
  thread_->Stop();
  EXPECT_EQ(Latches(), 3u);
}

TEST_F(CollectorThreadTest, ReconsideringAnUnchangedIntervalTakesNoSnapshot) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Start();
  published_.Await(1);
  for (int i = 0; i < 100; ++i) thread_->Reconsider();
  SetInterval(absl::Hours(2));
  thread_->Reconsider();
  published_.Await(2);
  thread_->Stop();
  EXPECT_EQ(Latches(), 2u);
}

TEST_F(CollectorThreadTest, ARemovedDeviceCanBeStopped) {
  Make(absl::Hours(1), fakes_.clock);
  thread_->Start();
  published_.Await(1);
  fakes_.store.SetDevices({});
  thread_->Reconsider();
  thread_->Stop();
  EXPECT_EQ(Latches(), 1u);
}

TEST_F(CollectorThreadTest, AnUnreachableDeviceIsTriedAtEachInterval) {
  Make(absl::Milliseconds(1), ticking_);
  device_->is_present = false;
  device_->before = [&](const smbus::Transfer&) {
    device_->is_present = device_->transfers.size() > 6 * size_t{RegisterPort::kAttemptsMax};
  };
  thread_->Start();
  published_.Await(1);
  thread_->Stop();
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_errors_total{code=\"UNAVAILABLE\",device=\"gpu0\"} 2"));
  EXPECT_TRUE(fakes_.HasMetric("sideband_bus_transfers_total{device=\"gpu0\",outcome=\"address_nack\"} 24"));
}

TEST_F(CollectorThreadTest, ACollectionHasADeadline) {
  const struct {
    absl::Duration duration;  // of the first transaction
    bool is_in_time;
  } kRows[] = {{absl::Minutes(10), true}, {absl::Minutes(10) + absl::Nanoseconds(1), false}};
  for (const auto& row : kRows) {
    Make(absl::Hours(1), fakes_.clock);
    device_->after = [&](const smbus::Transfer&, FakeMailbox::Result&) {
      if (device_->transfers.size() == 1) fakes_.clock.Advance(row.duration);
    };
    thread_->Start();
    if (row.is_in_time) {
      published_.Await(1);
    } else {
      ExpectMetric(*fakes_.metrics, "sideband_collect_errors_total{code=\"CANCELLED\",device=\"gpu0\"} 1");
    }
    thread_->Stop();
    EXPECT_EQ(device_->transfers.size() > 1, row.is_in_time);
  }
  EXPECT_EQ(published_.count(), 1u);
}

// A peek as a server asks for it.
class Asking {
 public:
  Asking(PeekRouter& router, PeekQuery query) {
    ticket_ = router.Peek(0, std::move(query), [this](const absl::StatusOr<PeekedBlock>& peeked) {
      peeked_ = peeked;
      done_.Notify();
    });
  }
  const absl::StatusOr<LiveReader::Ticket>& ticket() const { return ticket_; }
  bool is_answered() const { return done_.HasBeenNotified(); }
  const absl::StatusOr<PeekedBlock>& Await() {
    WaitUntil(done_, "the answer to a peek");
    return peeked_;
  }

 private:
  absl::StatusOr<LiveReader::Ticket> ticket_;
  absl::StatusOr<PeekedBlock> peeked_;
  absl::Notification done_;
};

// A device of version 1 whose mailbox is shared with others.
class SharingThreadTest : public CollectorThreadTest {
 protected:
  ~SharingThreadTest() override { std::filesystem::remove(lock_.path); }
  void MakeSharing(const LockFile& lock) {
    SetInterval(absl::Hours(1));
    boards_.SetSettings(0, {.is_read = true, .is_shared = true});
    auto device = std::make_unique<FakeMailbox>();
    device_ = device.get();
    device_->lock = lock;
    CollectorContext context = fakes_.Get(fakes_.clock);
    context.boards = &boards_;
    thread_ = std::make_unique<CollectorThread>(0, std::move(device), FakeMailbox::kAddress, context);
  }

  const LockFile lock_ = {.path = absl::StrCat(testing::TempDir(), "/collector_thread_", getpid(), ".lock"),
                          .is_made = true};
  BoardStore boards_;
};

TEST_F(SharingThreadTest, ASnapshotIsTakenUnderTheBussLock) {
  MakeSharing(lock_);
  BusLock others(lock_);
  device_->before = [&](const smbus::Transfer&) {
    // The looks that follow need no lock.
    const bool is_snapshot = published_.count() == 0;
    EXPECT_TRUE(!is_snapshot || others.TryAcquire() == absl::StatusOr<bool>(false));
  };
  thread_->Start();
  published_.Await(1);
  thread_->Stop();
  EXPECT_EQ(others.TryAcquire(), absl::StatusOr<bool>(true));
}

TEST_F(SharingThreadTest, AnotherProgramsLockIsAwaitedUntilAStopRequest) {
  MakeSharing(lock_);
  BusLock others(lock_);
  ASSERT_EQ(others.TryAcquire(), absl::StatusOr<bool>(true));
  thread_->Start();
  thread_->Stop();
  EXPECT_TRUE(device_->transfers.empty());
}

TEST_F(SharingThreadTest, WithoutTheLockASnapshotIsMissed) {
  MakeSharing({.path = lock_.path + "/none", .is_made = true});
  thread_->Start();
  ExpectMetric(*fakes_.metrics, "sideband_collect_errors_total{code=\"UNAVAILABLE\",device=\"gpu0\"} 1");
  thread_->Stop();
  EXPECT_TRUE(device_->transfers.empty());
}

class PeekingThreadTest : public CollectorThreadTest {
 protected:
  void MakePeeking(absl::Duration interval, const Clock& clock, double share = 1, uint32_t bus_hz = 0) {
    fakes_.store.SetDevices(
        {{0, std::make_shared<const DeviceInfo>(
                 DeviceInfo{.name = "gpu0", .interval = interval, .bus_hz = bus_hz, .peek_bus_share = share})}});
    auto device = std::make_unique<FakeMailbox>();
    device_ = device.get();
    device_->version = mailbox::ExtensionVersion::kTwo;
    device_->features = mailbox::kPeekFeature;
    CollectorContext context = fakes_.Get(clock);
    context.buses = &buses_;
    thread_ = std::make_unique<CollectorThread>(0, std::move(device), FakeMailbox::kAddress, context);
  }
  // Gives the device this many events. Beyond those that it has, counter i of a block is i.
  void CountEvents(size_t events) {
    mailbox::Snapshot& next = device_->next;
    mailbox::CounterValues counters;
    for (size_t block = 0; block < next.blocks.size(); ++block) {
      const auto known = next.Counters(block);
      counters.insert(counters.end(), known.begin(), known.end());
      for (size_t event = known.size(); event < events; ++event) counters.push_back(event);
    }
    for (size_t event = next.counters_per_block; event < events; ++event) {
      device_->catalog.events.push_back({.name = "event" + std::to_string(event)});
    }
    next.counters_per_block = static_cast<decltype(next.counters_per_block)>(events);
    next.counters = std::move(counters);
  }
  static PeekQuery Query(size_t asker = 0) { return {.vm = kOpenVm, .boot_id = 9, .events = {0}, .asker = asker}; }
};

TEST_F(PeekingThreadTest, APeekIsAnsweredBetweenTwoSnapshots) {
  MakePeeking(absl::Hours(1), fakes_.clock);
  thread_->Start();
  published_.Await(1);
  for (int i = 0; i < 3; ++i) {
    Asking asking(router_, Query());
    const auto& peeked = asking.Await();
    ASSERT_TRUE(peeked.ok()) << peeked.status();
    EXPECT_EQ(peeked->counters, (std::vector<uint64_t>{11}));
  }
  thread_->Stop();
  EXPECT_EQ(Latches(), 1u);
  ExpectMetric(*fakes_.metrics, "sideband_peeks_total{code=\"OK\",device=\"gpu0\"} 3");
  ExpectMetric(*fakes_.metrics, "sideband_peek_duration_seconds_count{device=\"gpu0\"} 3");
}

TEST_F(PeekingThreadTest, ADueSnapshotWaitsForOnePeekAtMost) {
  MakePeeking(absl::Milliseconds(1), ticking_);
  // Each peek takes longer than the interval, and there are always more.
  device_->before = [&](const smbus::Transfer& transfer) {
    const auto& commands = device_->commands;
    if (IsWindow(transfer) && commands.back().word.opcode == Opcode::kPeek) fakes_.clock.Advance(absl::Milliseconds(2));
  };
  thread_->Start();
  published_.Await(1);
  std::vector<std::unique_ptr<Asking>> peeks;
  for (size_t asker = 0; asker < 8; ++asker) peeks.push_back(std::make_unique<Asking>(router_, Query(asker)));
  for (const auto& peek : peeks) EXPECT_TRUE(peek->Await().ok());
  thread_->Stop();
  bool was_peek = false;
  for (const FakeMailbox::Command& command : device_->commands) {
    const bool is_go = command.word.opcode == Opcode::kPeek && command.word.arg1 == 1;
    EXPECT_FALSE(is_go && was_peek) << "two peeks without a snapshot in between";
    if (is_go || command.word.opcode == Opcode::kLatch) was_peek = is_go;
  }
}

// The answer to an extend is followed by the latch that is due then. Once there is time for all extends between two
// latches, they are asked for again.
TEST_F(PeekingThreadTest, ADueSnapshotWaitsForOneExtendAtMost) {
  MakePeeking(absl::Milliseconds(10), ticking_);
  CountEvents(130);
  int slow_answers = 2;
  device_->before = [&](const smbus::Transfer& transfer) {
    if (!IsWindow(transfer) || device_->commands.back().word.opcode != Opcode::kPeek || slow_answers == 0) return;
    --slow_answers;
    fakes_.clock.Advance(absl::Milliseconds(20));
  };
  thread_->Start();
  published_.Await(1);
  Asking asking(router_, {.vm = kOpenVm, .boot_id = 9, .events = {0, 64, 128}});
  const auto& peeked = asking.Await();
  thread_->Stop();
  ASSERT_TRUE(peeked.ok()) << peeked.status();
  EXPECT_EQ(peeked->counters, (std::vector<uint64_t>{11, 64, 128}));
  std::vector<size_t> asked = {0};  // extends between two latches
  for (const FakeMailbox::Command& command : device_->commands) {
    if (command.word.opcode == Opcode::kLatch && asked.back() != 0) asked.push_back(0);
    if (command.word.opcode == Opcode::kPeek && command.word.arg1 == 1) ++asked.back();
  }
  if (asked.back() == 0) asked.pop_back();
  EXPECT_THAT(asked, ElementsAre(1, 1, 3));
  ExpectMetric(*fakes_.metrics, "sideband_peeks_total{code=\"OK\",device=\"gpu0\"} 1");
}

TEST_F(PeekingThreadTest, APeekThatAlwaysGivesWayEnds) {
  MakePeeking(absl::Milliseconds(10), ticking_);
  CountEvents(130);
  device_->before = [&](const smbus::Transfer& transfer) {
    const bool is_peek = !device_->commands.empty() && device_->commands.back().word.opcode == Opcode::kPeek;
    if (is_peek && IsWindow(transfer)) fakes_.clock.Advance(absl::Milliseconds(20));
  };
  thread_->Start();
  published_.Await(1);
  Asking asking(router_, {.vm = kOpenVm, .boot_id = 9, .events = {0, 64}});
  EXPECT_EQ(asking.Await().status().code(), absl::StatusCode::kDeadlineExceeded);
  thread_->Stop();
  EXPECT_EQ(device_->CommandsOf(Opcode::kPeek).size(), 3u * 2) << "SCOPE and GO of the first extend";
}

// The first two of three extends take 29 ms at 100 kHz.
TEST_F(PeekingThreadTest, APeekForWhichThereIsNeverTimeIsRefused) {
  MakePeeking(absl::Milliseconds(30), fakes_.clock, /*share=*/1, /*bus_hz=*/100'000);
  CountEvents(130);
  const PeekQuery three{.vm = kOpenVm, .boot_id = 9, .events = {0, 64, 128}};
  Asking early(router_, three);
  EXPECT_TRUE(early.ticket().ok()) << early.ticket().status();
  thread_->Start();
  EXPECT_TRUE(early.Await().ok()) << "what a snapshot takes is not known yet, and the clock stands";
  EXPECT_EQ(Asking(router_, three).ticket().status(),
            absl::InvalidArgumentError("events: they are in more extends than can be read between two snapshots"));
  EXPECT_TRUE(Asking(router_, Query()).Await().ok());
  thread_->Stop();
  ExpectMetric(*fakes_.metrics, "sideband_peeks_total{code=\"INVALID_ARGUMENT\",device=\"gpu0\"} 1");
}

TEST_F(PeekingThreadTest, ALongCollectionKeepsNoPeekWaiting) {
  MakePeeking(absl::Hours(1), fakes_.clock);
  std::unique_ptr<Asking> asking;
  bool was_answered = false;
  device_->before = [&](const smbus::Transfer&) {
    if (device_->transfers.size() == 5) {
      asking = std::make_unique<Asking>(router_, Query());
      fakes_.clock.Advance(absl::Seconds(10) + absl::Nanoseconds(1));
    }
    if (device_->transfers.size() == 6) was_answered = asking->is_answered();
  };
  thread_->Start();
  published_.Await(1);
  thread_->Stop();
  EXPECT_TRUE(was_answered) << "before the next transaction";
  EXPECT_EQ(asking->Await().status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(PeekingThreadTest, ADeviceWithoutTheFeatureCostsNoBusTime) {
  MakePeeking(absl::Hours(1), fakes_.clock, /*share=*/0.001, /*bus_hz=*/100'000);
  device_->features = 0;
  thread_->Start();
  published_.Await(1);
  for (int i = 0; i < 3; ++i) {
    Asking asking(router_, Query());
    ASSERT_TRUE(asking.ticket().ok()) << asking.ticket().status();
    EXPECT_EQ(asking.Await().status().code(), absl::StatusCode::kUnimplemented);
  }
  thread_->Stop();
  ExpectMetric(*fakes_.metrics, "sideband_peeks_total{code=\"UNIMPLEMENTED\",device=\"gpu0\"} 3");
  EXPECT_FALSE(fakes_.HasMetric("sideband_peek_duration_seconds_count{device=\"gpu0\"} 3"));
}

TEST_F(PeekingThreadTest, ADeviceThatIsNotReadAnswersNoPeek) {
  MakePeeking(absl::Hours(1), fakes_.clock);
  device_->is_present = false;
  thread_->Start();
  ExpectMetric(*fakes_.metrics, "sideband_collect_errors_total{code=\"UNAVAILABLE\",device=\"gpu0\"} 1");
  EXPECT_EQ(Asking(router_, Query()).Await().status().code(), absl::StatusCode::kUnavailable);
  thread_->Stop();
  EXPECT_TRUE(device_->CommandsOf(Opcode::kPeek).empty());
}

TEST_F(PeekingThreadTest, AStopAnswersWhatWaits) {
  MakePeeking(absl::Hours(1), fakes_.clock);
  Asking asking(router_, Query());  // the thread is not started
  ASSERT_TRUE(asking.ticket().ok());
  thread_->Stop();
  EXPECT_EQ(asking.Await().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Asking(router_, Query()).ticket().status().code(), absl::StatusCode::kUnavailable);
  thread_.reset();
  EXPECT_EQ(Asking(router_, Query()).ticket().status().code(), absl::StatusCode::kUnavailable) << "removed";
}

TEST_F(PeekingThreadTest, APeekThatWaitsCanBeCancelled) {
  MakePeeking(absl::Hours(1), fakes_.clock);
  Asking cancelled(router_, Query()), other(router_, Query());
  EXPECT_TRUE(router_.Cancel(*cancelled.ticket()));
  EXPECT_FALSE(router_.Cancel(*cancelled.ticket()));
  thread_->Start();
  EXPECT_TRUE(other.Await().ok());
  EXPECT_FALSE(router_.Cancel(*other.ticket()));
  EXPECT_FALSE(router_.Cancel({.device = 7, .number = 1}));
  thread_->Stop();
  ExpectMetric(*fakes_.metrics, "sideband_peeks_total{code=\"CANCELLED\",device=\"gpu0\"} 1");
}

TEST_F(PeekingThreadTest, PeeksKeepToTheirShareOfTheBus) {
  MakePeeking(absl::Hours(1), fakes_.clock, /*share=*/0.5);
  device_->before = [&](const smbus::Transfer& transfer) {
    const auto& commands = device_->commands;
    const bool is_peek = !commands.empty() && commands.back().word.opcode == Opcode::kPeek;
    if (is_peek && IsWindow(transfer)) fakes_.clock.Advance(absl::Seconds(1));
  };
  thread_->Start();
  published_.Await(1);
  EXPECT_TRUE(Asking(router_, Query()).Await().ok());
  // The thread settles the time before it answers. Of the two seconds that the share needs for it, one has passed.
  EXPECT_TRUE(Asking(router_, Query()).Await().ok());
  EXPECT_EQ(Asking(router_, Query()).ticket().status().code(), absl::StatusCode::kResourceExhausted);
  fakes_.clock.Advance(absl::Seconds(1));
  EXPECT_TRUE(Asking(router_, Query()).Await().ok());
  thread_.reset();
  MakePeeking(absl::Hours(1), fakes_.clock, /*share=*/0);
  EXPECT_EQ(Asking(router_, Query()).ticket().status().code(), absl::StatusCode::kFailedPrecondition);
}

// A trigger as an operator asks for it.
class Triggering {
 public:
  explicit Triggering(TriggerRouter& router)
      : asked_(router.Trigger(0, mailbox::TriggerStep::kOnce, 0, [this](const absl::StatusOr<uint32_t>& number) {
          number_ = number;
          done_.Notify();
        })) {}
  const absl::Status& asked() const { return asked_; }
  const absl::StatusOr<uint32_t>& Await() {
    WaitUntil(done_, "the answer to a trigger");
    return number_;
  }

 private:
  absl::StatusOr<uint32_t> number_;
  absl::Notification done_;
  absl::Status asked_;
};

class TriggeringThreadTest : public PeekingThreadTest {
 protected:
  // The device numbers its triggers from 1.
  void MakeTriggering() {
    MakePeeking(absl::Hours(1), fakes_.clock);
    device_->answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != Opcode::kTrigger) return std::nullopt;
      return FakeMailbox::Reply{.data = ++number_};
    };
  }
  // The commands that answer somebody, a letter each.
  std::string Answers() const {
    std::string letters;
    for (const FakeMailbox::Command& command : device_->commands) {
      const bool is_go = command.word.arg1 == static_cast<uint8_t>(mailbox::PeekStep::kGo);
      if (command.word.opcode == Opcode::kTrigger) letters += 'T';
      if (command.word.opcode == Opcode::kPeek && is_go) letters += 'P';
    }
    return letters;
  }

  uint32_t number_ = 0;
};

TEST_F(TriggeringThreadTest, ATriggerRunsBetweenTwoSnapshots) {
  MakeTriggering();
  thread_->Start();
  published_.Await(1);
  for (uint32_t number = 1; number <= 3; ++number) {
    Triggering asking(triggers_);
    const auto& answer = asking.Await();
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(*answer, number);
  }
  thread_->Stop();
  EXPECT_EQ(Latches(), 1u);
}

TEST_F(TriggeringThreadTest, AStopRequestAnswersTriggersThatWait) {
  MakeTriggering();
  Triggering waiting(triggers_);  // the thread is not started
  ASSERT_TRUE(waiting.asked().ok());
  thread_->RequestStop();
  EXPECT_TRUE(absl::IsUnavailable(waiting.Await().status()));
  EXPECT_TRUE(absl::IsUnavailable(Triggering(triggers_).asked()));
  thread_.reset();
  EXPECT_TRUE(absl::IsUnavailable(Triggering(triggers_).asked())) << "removed";
}

TEST_F(TriggeringThreadTest, TriggersAndPeeksTakeTurns) {
  MakeTriggering();
  Triggering first(triggers_), second(triggers_), third(triggers_);
  Asking one(router_, Query()), other(router_, Query());
  thread_->Start();
  EXPECT_TRUE(third.Await().ok());
  EXPECT_TRUE(other.Await().ok());
  thread_->Stop();
  EXPECT_EQ(Answers(), "TPTPT");
}

}  // namespace
}  // namespace sideband::daemon
