// SPDX-License-Identifier: Apache-2.0
//
// `sideband bus`: inspects the traffic of a management bus. A run of `bus trace` has a source, which is a capture file
// or a monitored virtual bus, the decoder of transactions, and the output.
#ifndef SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_
#define SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/wire.h"
#include "client/cli/command.h"
#include "client/cli/console.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/capture_file.h"

namespace sideband::client {

// A transaction as text.
struct TraceEntry {
  uint64_t time_us = 0;
  double bus_us = 0;                  // how long the bus was busy: its bits, and clock stretching
  std::vector<WireMessage> messages;  // views into the record
  std::string wire;
  std::vector<std::string> meaning;  // lines that begin with "-> ", "<- " or "!! " (mailbox_follower.h)
};

// Decodes bus transactions into text, in the notation of a logic analyser. Not thread-safe. Records are hostile; memory
// is bounded for any input.
class TraceDecoder {
 public:
  explicit TraceDecoder(uint32_t bus_hz) : bus_hz_(bus_hz) {}

  // Records must be passed in the order of the bus. The entry must not outlive the record.
  TraceEntry Decode(const smbus::BusRecord& record);
  // Transactions are missing at this point. Discards the state of all mailboxes, which no longer holds.
  void Lost() { followers_.clear(); }

 private:
  MailboxFollower& Follower(uint8_t address);

  const uint32_t bus_hz_;
  StreamFollower::Budget budget_;
  std::map<uint8_t, std::unique_ptr<MailboxFollower>> followers_;  // by address
};

// Trace output as text and as JSON. As text, a transaction is a line with its number, its time, its duration on the bus
// and the wires, followed by lines with its meaning. As JSON, each transaction is one object per line.

// The format of times: nullopt prints seconds since the records' start; a value, which is that start in microseconds
// since 1970, prints UTC.
using HostTimeZero = std::optional<uint64_t>;

// The maximum length of a line with a transaction's meaning. Lines break between words only; a longer word exceeds it.
inline constexpr size_t kTraceColumns = 116;

// Every returned text ends with a line break.
std::string TraceTitle(HostTimeZero zero);
std::string TraceText(uint64_t number, const TraceEntry& entry, HostTimeZero zero);
std::string LossText(uint64_t transactions, HostTimeZero zero);

std::string TraceJson(uint64_t number, const smbus::BusRecord& record, const TraceEntry& entry, HostTimeZero zero);
std::string LossJson(uint64_t transactions);

// The input of a trace: a monitored bus, or a capture file. Not thread-safe.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // The next event; nullopt at the end. An error ends the source, too.
  virtual absl::StatusOr<std::optional<smbus::MonitorEvent>> Next() = 0;
  // The instant that the records' times count from, in microseconds since 1970; 0: unknown.
  virtual uint64_t host_time_us() const = 0;
};

// A capture file, to its end.
class CaptureSource final : public TraceSource {
 public:
  explicit CaptureSource(std::unique_ptr<smbus::CaptureReader> reader) : reader_(std::move(reader)) {}
  absl::StatusOr<std::optional<smbus::MonitorEvent>> Next() override { return reader_->Next(); }
  uint64_t host_time_us() const override { return reader_->host_time_us(); }

 private:
  const std::unique_ptr<smbus::CaptureReader> reader_;
};

struct TraceOptions {
  uint32_t bus_hz = 100'000;
  std::optional<uint8_t> address;  // only transactions with this address
  uint64_t count_max = 0;          // number of shown transactions; 0: unlimited
  bool json = false;
  bool host_time = false;
};

// Runs until the source ends or `count_max` is reached. Shown events are also appended to `writer`, unless it is null.
// FAILED_PRECONDITION if host time is requested and the source does not have it; else the error of the source, the
// output or the writer.
absl::Status RunTrace(TraceSource& source, const TraceOptions& options, smbus::CaptureWriter* writer, Output& out);

// Monitors the transactions of a virtual bus until a cancellation (proto/smbus/bus_frame.h).
//
// Not thread-safe. The server is hostile.
class BusMonitor final : public TraceSource {
 public:
  using Now = std::function<absl::Time()>;
  // Timeout of each wait while the server answers the monitor request.
  static constexpr absl::Duration kPatience = absl::Seconds(5);

  // UNAVAILABLE if no server listens on `path`, or if the server cannot be monitored. DEADLINE_EXCEEDED if the server
  // does not answer. `cancellation` must outlive the monitor.
  static absl::StatusOr<std::unique_ptr<BusMonitor>> Connect(const std::string& path, Cancellation& cancellation,
                                                             const Now& now);
  BusMonitor(const BusMonitor&) = delete;
  BusMonitor& operator=(const BusMonitor&) = delete;

  // Blocks until the next event. UNAVAILABLE if the server closed the connection.
  absl::StatusOr<std::optional<smbus::MonitorEvent>> Next() override;
  uint64_t host_time_us() const override { return host_time_us_; }

 private:
  BusMonitor(std::string path, Descriptor socket, Descriptor cancelled, Cancellation& cancellation);

  absl::Status Start(const Now& now);
  absl::Status Error(absl::string_view what) const;
  // Blocks until the socket is readable. CANCELLED after the cancellation.
  absl::Status Await(absl::Duration patience);
  absl::StatusOr<Bytes> Receive(size_t size, absl::Duration patience);
  absl::StatusOr<Bytes> ReceiveFrame(absl::Duration patience);

  const std::string path_;
  const Descriptor socket_;
  const Descriptor cancelled_;  // an eventfd
  const Cancellation::Hook hook_;
  uint64_t host_time_us_ = 0;
};

// The clock rate of a bus in its command-line notation: 100k, 400k, 1M, or a number of Hz.
inline constexpr uint32_t kBusHzMin = 1'000;
inline constexpr uint32_t kBusHzMax = 10'000'000;

// INVALID_ARGUMENT for any other notation, and for rates outside the range.
absl::StatusOr<uint32_t> ParseBusSpeed(absl::string_view text);

std::unique_ptr<Command> NewBusCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_
