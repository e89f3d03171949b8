// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/bus_monitors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>

#include "proto/smbus/bus_frame.h"

namespace sideband::mcu {
namespace {

// A transaction of a kilobyte.
smbus::BusRecord ReadAt(uint64_t time_us) {
  return {time_us, {{smbus::Message::Read(0x4F, 1024)}}, smbus::TransferResult{.read = {Bytes(1024)}}};
}

class BusMonitorsTest : public testing::Test {
 protected:
  // The peer of a monitor's connection.
  int Connect() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    monitors_.Add(ends[0], {}, 0);
    far_ends_.push_back(ends[1]);
    return ends[1];
  }
  ~BusMonitorsTest() override {
    for (const int fd : far_ends_) close(fd);
  }

  void Serve() {
    std::vector<pollfd> polls;
    monitors_.AppendPolls(polls);
    poll(polls.data(), polls.size(), 0);
    monitors_.Serve(polls);
  }
  // Returns all frames without their headers; calls the server until none is left.
  std::deque<Bytes> Drain(int fd) {
    Bytes bytes;
    uint8_t buffer[1 << 14];
    for (Serve();; Serve()) {
      const ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
      if (size <= 0) break;
      bytes.insert(bytes.end(), buffer, buffer + size);
    }
    std::deque<Bytes> bodies;
    ByteReader in(bytes);
    while (in.remaining() > 0) {
      const ByteSpan body = in.Raw(in.U32());
      bodies.emplace_back(body.begin(), body.end());
    }
    return bodies;
  }

  BusMonitors monitors_;
  std::vector<int> far_ends_;
};

TEST_F(BusMonitorsTest, EachIsSentEverything) {
  const int first = Connect(), second = Connect();
  monitors_.Publish(ReadAt(1));
  monitors_.Publish(ReadAt(2));
  for (const int fd : {first, second}) {
    const auto bodies = Drain(fd);
    ASSERT_EQ(bodies.size(), 3u);
    EXPECT_TRUE(smbus::DecodeMonitorStart(bodies[0]).ok());
    EXPECT_EQ(*smbus::DecodeMonitorEvent(bodies[2]), smbus::MonitorEvent(ReadAt(2)));
  }
}

TEST_F(BusMonitorsTest, WhoDoesNotReadLosesAndIsToldHowMuch) {
  const int slow = Connect(), quick = Connect();
  constexpr uint64_t kRecords = 4096;  // four times the capacity of the queue
  uint64_t seen_by_quick = 0;
  for (uint64_t i = 0; i < kRecords; ++i) {
    monitors_.Publish(ReadAt(i));
    if (i % 64 == 0) seen_by_quick += Drain(quick).size();
  }
  seen_by_quick += Drain(quick).size();
  EXPECT_EQ(seen_by_quick, 1 + kRecords) << "another one's slowness is not its own";

  const auto bodies = Drain(slow);
  uint64_t records = 0, lost = 0, losses = 0;
  for (size_t i = 1; i < bodies.size(); ++i) {
    const auto event = *smbus::DecodeMonitorEvent(bodies[i]);
    if (const auto* loss = std::get_if<smbus::BusLoss>(&event)) {
      lost += loss->transactions;
      ++losses;
    } else {
      EXPECT_EQ(std::get<smbus::BusRecord>(event).time_us, records + lost) << "in order";
      ++records;
    }
  }
  EXPECT_EQ(records + lost, kRecords);
  EXPECT_EQ(losses, 1u) << "one gap, not many";
  EXPECT_LT(records * 1024, 2 * BusMonitors::kQueueBytesMax);

  monitors_.Publish(ReadAt(kRecords));
  const auto after = Drain(slow);
  ASSERT_EQ(after.size(), 1u) << "it sees everything again";
  EXPECT_EQ(*smbus::DecodeMonitorEvent(after[0]), smbus::MonitorEvent(ReadAt(kRecords)));
}

TEST_F(BusMonitorsTest, WhoGoesAwayOrSpeaksIsDropped) {
  Connect();
  const int speaks = Connect();
  close(far_ends_[0]);
  far_ends_[0] = dup(speaks);
  EXPECT_EQ(write(speaks, "x", 1), 1);
  Serve();
  EXPECT_EQ(monitors_.size(), 0u);
}

}  // namespace
}  // namespace sideband::mcu
