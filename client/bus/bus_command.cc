// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_command.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/console.h"
#include "client/cli/table.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/capture_file.h"
#include "proto/smbus/transfer.h"

namespace sideband::client {
namespace {

using nlohmann::ordered_json;
using smbus::BusLoss;
using smbus::BusRecord;
using smbus::MonitorEvent;
using smbus::Outcome;

// The transaction's error; empty if it succeeded.
std::string ErrorText(const smbus::BusRecord& record, const std::vector<WireMessage>& wire) {
  if (!record.result.has_value()) return "!! no result: the bus could not be used, or the controller vanished";
  switch (record.result->outcome) {
    case Outcome::kOk:
      return "";
    case Outcome::kAddressNack:
      return wire.empty() ? "!! no device answers"
                          : absl::StrFormat("!! no device answers at 0x%02x", wire.back().address);
    case Outcome::kDataNack:
      return "!! the device refused a byte";
    case Outcome::kArbitrationLost:
      return "!! arbitration lost to another controller";
    case Outcome::kTimeout:
      return "!! the clock was held low for too long";
    case Outcome::kBadCount:
      return "!! a block's count was 0 or above 255";
  }
  return "!! ended in an unknown way";
}

constexpr int kSecondsWidth = 12;
constexpr int kHostTimeWidth = 27;
// The width of the columns before the wires.
size_t Indent(HostTimeZero zero) {
  return std::string("     1  ").size() + (zero.has_value() ? kHostTimeWidth : kSecondsWidth) +
         std::string("      740  ").size();
}

std::string HostTime(uint64_t zero_us, uint64_t time_us) {
  // Only a crafted file has a sum beyond the range of absl::FromUnixMicros().
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (zero_us > kMax || time_us > kMax - zero_us) return "?";
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(static_cast<int64_t>(zero_us + time_us)),
                          absl::UTCTimeZone());
}

std::string Time(HostTimeZero zero, uint64_t time_us) {
  if (zero.has_value()) return absl::StrFormat("%*s", kHostTimeWidth, HostTime(*zero, time_us));
  return absl::StrFormat("%*s", kSecondsWidth, absl::StrFormat("%d.%06d", time_us / 1'000'000, time_us % 1'000'000));
}

// Prints a tenth only if it is not 0.
std::string Microseconds(double us) {
  const std::string text = absl::StrFormat("%.1f", us);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

// Wraps `text` between words into lines of the remaining width. Continuation lines are indented by two more columns.
void AppendWrapped(std::string& out, const std::string& text, size_t indent) {
  const size_t width = kTraceColumns - indent;
  std::string line;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      absl::StrAppend(&out, std::string(indent, ' '), line, "\n");
      line = "  ";
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  absl::StrAppend(&out, std::string(indent, ' '), line, "\n");
}

std::string HexOf(ByteSpan bytes) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

ordered_json MessageJson(const WireMessage& message) {
  ordered_json json;
  json["address"] = message.address;
  json["read"] = message.read;
  json["bytes"] = HexOf(message.bytes);
  if (message.pec.has_value()) json["pec"] = message.pec->ok() ? "ok" : "wrong";
  return json;
}

const char* OutcomeName(const std::optional<smbus::TransferResult>& result) {
  if (!result.has_value()) return "no_result";
  constexpr const char* kNames[] = {"ok", "address_nack", "data_nack", "arbitration_lost", "timeout", "bad_count"};
  const auto outcome = static_cast<size_t>(result->outcome);
  return outcome < std::size(kNames) ? kNames[outcome] : "unknown";
}

class TraceRun {
 public:
  TraceRun(const TraceOptions& options, HostTimeZero zero, smbus::CaptureWriter* writer, Output& out)
      : options_(options), zero_(zero), writer_(writer), out_(out), decoder_(options.bus_hz) {}

  bool IsComplete() const { return options_.count_max != 0 && shown_ >= options_.count_max; }

  absl::Status Begin() { return options_.json ? absl::OkStatus() : out_.Write(TraceTitle(zero_)); }

  absl::Status Show(const MonitorEvent& event) {
    const auto* const record = std::get_if<BusRecord>(&event);
    if (record != nullptr && !IsWanted(*record)) return absl::OkStatus();
    if (writer_ != nullptr) SIDEBAND_RETURN_IF_ERROR(writer_->Append(event));
    return out_.Write(record != nullptr ? RecordText(*record) : Loss(std::get<BusLoss>(event)));
  }

 private:
  bool IsWanted(const BusRecord& record) const {
    return !options_.address.has_value() ||
           std::ranges::any_of(record.transfer.messages,
                               [&](const smbus::Message& message) { return message.address == *options_.address; });
  }

  std::string RecordText(const BusRecord& record) {
    ++shown_;
    const TraceEntry entry = decoder_.Decode(record);
    return options_.json ? TraceJson(shown_, record, entry, zero_) : TraceText(shown_, entry, zero_);
  }

  std::string Loss(const BusLoss& loss) {
    decoder_.Lost();
    return options_.json ? LossJson(loss.transactions) : LossText(loss.transactions, zero_);
  }

  const TraceOptions& options_;
  const HostTimeZero zero_;
  smbus::CaptureWriter* const writer_;
  Output& out_;
  TraceDecoder decoder_;
  uint64_t shown_ = 0;
};

// Returns a connected socket, or the negated errno.
int ConnectTo(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return -errno;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd.Release();
  return -errno;
}

void Raise(int event) {
  const uint64_t one = 1;
  while (write(event, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

// Adds the option's name to an INVALID_ARGUMENT message.
absl::Status AtOption(const char* option, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", status.message()));
}

class BusCommand final : public Command {
 public:
  std::string name() const override { return "bus"; }
  std::string description() const override { return "Show the traffic of a management bus"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  sideband bus trace --bus unix:gpu0.sock\n"
        "  sideband bus trace gpu0.sbt");
    DefineTrace(*app.add_subcommand("trace", "Print each transaction, and what it means, until Ctrl-C"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const TraceOptions options, Options());
    return bus_.empty() ? TraceFile(options, context) : TraceBus(options, context);
  }

 private:
  void DefineTrace(CLI::App& app) {
    app.add_option("FILE", file_, "A capture to read instead of a bus; - is standard input");
    app.add_option("--bus", bus_, "The bus to watch: unix:PATH; with @ADDRESS, that device only")->type_name("BUS");
    app.add_option("--address", address_, "Only transactions with this address, such as 0x4f (given after `trace`)")
        ->type_name("ADDRESS");
    app.add_option("--write", write_, "Also write the transactions to this file, with counters in the clear")
        ->type_name("FILE");
    app.add_option("-n,--count", options_.count_max,
                   "End after this number of transactions; default: go on until Ctrl-C")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    app.add_option("--speed", speed_, "The bus's clock rate, to compute how long transactions take")
        ->type_name("HZ")
        ->capture_default_str();
    app.add_option("--time", time_, "relative: seconds since the start of the server or capture; host: UTC")
        ->check(CLI::IsMember({"relative", "host"}))
        ->type_name("KIND")
        ->capture_default_str();
    app.add_flag("--json", options_.json, "One JSON object per line");
    app.footer(
        "Lines begin with -> (sent by the controller), <- (sent by the device) or !! (an error).\n"
        "Examples:\n"
        "  sideband bus trace --bus unix:gpu0.sock --count 10\n"
        "  sideband bus trace --bus unix:gpu0.sock@0x4f --write gpu0.sbt --json\n"
        "  sideband bus trace gpu0.sbt --time host --speed 400k");
  }

  absl::StatusOr<TraceOptions> Options() const {
    if (bus_.empty() == file_.empty()) {
      return absl::InvalidArgumentError("bus trace: either --bus or a capture FILE is needed");
    }
    if (!write_.empty() && bus_.empty()) return absl::InvalidArgumentError("--write: only with --bus");
    TraceOptions options = options_;
    options.host_time = time_ == "host";
    const auto speed = ParseBusSpeed(speed_);
    if (!speed.ok()) return AtOption("--speed", speed.status());
    options.bus_hz = *speed;
    if (!address_.empty()) {
      const auto address = smbus::ParseAddress(address_);
      if (!address.ok()) return AtOption("--address", address.status());
      options.address = *address;
    }
    return options;
  }

  absl::Status TraceFile(const TraceOptions& options, CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(auto reader, file_ == "-"
                                               ? smbus::CaptureReader::FromDescriptor(STDIN_FILENO, "standard input")
                                               : smbus::CaptureReader::Open(file_));
    CaptureSource source(std::move(reader));
    return RunTrace(source, options, nullptr, context.out());
  }

  absl::Status TraceBus(TraceOptions options, CommandContext& context) const {
    const auto bus = smbus::ParseBusName(bus_);
    if (!bus.ok()) return AtOption("--bus", bus.status());
    if (bus->kind != smbus::BusName::Kind::kUnix) {
      return absl::InvalidArgumentError(
          "--bus: only a unix: bus can be watched; sidebandd can keep a capture of an i2c: bus");
    }
    // ParseBusName() supplies a default address, which must not select a device.
    if (!options.address.has_value() && bus_.find('@') != std::string::npos) options.address = bus->address;
    const InterruptWatcher watcher(context.cancellation());
    SIDEBAND_ASSIGN_OR_RETURN(const auto monitor, BusMonitor::Connect(bus->path, context.cancellation(), absl::Now));
    std::unique_ptr<smbus::CaptureWriter> writer;
    if (!write_.empty()) {
      SIDEBAND_ASSIGN_OR_RETURN(writer,
                                smbus::CaptureWriter::Create(write_, {.host_time_us = monitor->host_time_us()}));
    }
    return RunTrace(*monitor, options, writer.get(), context.out());
  }

  std::string file_;
  std::string bus_;
  std::string address_;
  std::string write_;
  std::string speed_ = "100k";
  std::string time_ = "relative";
  TraceOptions options_;
};

}  // namespace

MailboxFollower& TraceDecoder::Follower(uint8_t address) {
  auto& follower = followers_[address];
  if (follower == nullptr) follower = std::make_unique<MailboxFollower>(budget_);
  return *follower;
}

TraceEntry TraceDecoder::Decode(const smbus::BusRecord& record) {
  TraceEntry entry{.time_us = record.time_us, .messages = OnTheWire(record)};
  std::vector<WireMessage>& wire = entry.messages;
  uint8_t pec = 0;
  // Without a result it is unknown which messages took place.
  for (size_t i = 0; record.result.has_value() && i < wire.size(); ++i) {
    const uint8_t address_byte = smbus::AddressByte(wire[i].address, wire[i].read);
    // One packet error code covers a write and the read after the repeated START; any other START begins a new one.
    const bool goes_on = i > 0 && wire[i].read && !wire[i - 1].read && wire[i].address == wire[i - 1].address;
    pec = smbus::Pec({&address_byte, 1}, goes_on ? pec : 0);
    const bool is_pointer = i + 1 < wire.size() && wire[i + 1].read && wire[i + 1].address == wire[i].address;
    Follower(wire[i].address).Message(wire[i], pec, is_pointer, entry.meaning);
    pec = smbus::Pec(wire[i].bytes, pec);
  }
  if (std::string error = ErrorText(record, wire); !error.empty()) entry.meaning.push_back(std::move(error));
  entry.wire = WireText(wire, record.result);
  const uint32_t stretch_us = record.result.has_value() ? record.result->stretch_us : 0;
  if (stretch_us > 0) entry.meaning.push_back(absl::StrFormat("<- held the clock low for %d us", stretch_us));
  entry.bus_us = WireBits(wire) * 1e6 / bus_hz_ + stretch_us;
  return entry;
}

std::string TraceTitle(HostTimeZero zero) {
  return absl::StrFormat("%6s  %*s  %7s  %s\n", "#", zero.has_value() ? kHostTimeWidth : kSecondsWidth,
                         zero.has_value() ? "TIME" : "TIME/s", "BUS/us", "TRANSACTION");
}

std::string TraceText(uint64_t number, const TraceEntry& entry, HostTimeZero zero) {
  std::string text =
      absl::StrFormat("%6d  %s  %7s  %s\n", number, Time(zero, entry.time_us), Microseconds(entry.bus_us), entry.wire);
  for (const std::string& line : entry.meaning) AppendWrapped(text, line, Indent(zero));
  return text;
}

std::string LossText(uint64_t transactions, HostTimeZero zero) {
  std::string text;
  AppendWrapped(text,
                absl::StrCat("!! ", PluralText(transactions, "transaction"),
                             transactions == 1 ? " is missing here: it came faster than it was read"
                                               : " are missing here: they came faster than they were read"),
                Indent(zero));
  return text;
}

std::string TraceJson(uint64_t number, const smbus::BusRecord& record, const TraceEntry& entry, HostTimeZero zero) {
  ordered_json json;
  json["number"] = absl::StrCat(number);
  json["time_us"] = absl::StrCat(entry.time_us);
  if (zero.has_value()) json["host_time"] = HostTime(*zero, entry.time_us);
  json["bus_us"] = entry.bus_us;
  json["stretch_us"] = record.result.has_value() ? record.result->stretch_us : 0;
  json["outcome"] = OutcomeName(record.result);
  json["messages"] = ordered_json::array();
  for (const WireMessage& message : entry.messages) json["messages"].push_back(MessageJson(message));
  json["meaning"] = entry.meaning;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string LossJson(uint64_t transactions) {
  ordered_json json;
  json["lost"] = absl::StrCat(transactions);
  return json.dump() + "\n";
}

absl::Status RunTrace(TraceSource& source, const TraceOptions& options, smbus::CaptureWriter* writer, Output& out) {
  const uint64_t host_time_us = source.host_time_us();
  if (options.host_time && host_time_us == 0) {
    return absl::FailedPreconditionError("--time host: the start time of the capture is unknown");
  }
  TraceRun run(options, options.host_time ? HostTimeZero(host_time_us) : std::nullopt, writer, out);
  SIDEBAND_RETURN_IF_ERROR(run.Begin());
  while (!run.IsComplete()) {
    SIDEBAND_ASSIGN_OR_RETURN(const auto event, source.Next());
    if (!event.has_value()) break;
    SIDEBAND_RETURN_IF_ERROR(run.Show(*event));
  }
  return absl::OkStatus();
}

BusMonitor::BusMonitor(std::string path, Descriptor socket, Descriptor cancelled, Cancellation& cancellation)
    : path_(std::move(path)),
      socket_(std::move(socket)),
      cancelled_(std::move(cancelled)),
      hook_(cancellation, [this] { Raise(cancelled_.get()); }) {}

absl::Status BusMonitor::Error(absl::string_view what) const {
  return absl::UnavailableError(absl::StrCat("bus ", path_, ": ", what));
}

absl::StatusOr<std::unique_ptr<BusMonitor>> BusMonitor::Connect(const std::string& path, Cancellation& cancellation,
                                                                const Now& now) {
  const int socket = ConnectTo(path);
  if (socket < 0) return absl::UnavailableError(absl::StrCat("bus ", path, ": ", std::strerror(-socket)));
  Descriptor connected(socket), cancelled(eventfd(0, EFD_CLOEXEC));
  if (!cancelled.is_open()) return absl::UnavailableError(absl::StrCat("bus ", path, ": ", std::strerror(errno)));
  std::unique_ptr<BusMonitor> monitor(new BusMonitor(path, std::move(connected), std::move(cancelled), cancellation));
  SIDEBAND_RETURN_IF_ERROR(monitor->Start(now));
  return monitor;
}

absl::Status BusMonitor::Start(const Now& now) {
  const Bytes request = smbus::EncodeMonitorRequest();
  if (send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return Error(std::strerror(errno));
  }
  auto body = ReceiveFrame(kPatience);
  // A server without monitor support closes the connection on an unknown frame kind (proto/smbus).
  if (absl::IsUnavailable(body.status())) return Error("its server cannot be watched");
  if (absl::IsCancelled(body.status())) return absl::OkStatus();  // Next() returns the end
  SIDEBAND_RETURN_IF_ERROR(body.status());
  const auto server_us = smbus::DecodeMonitorStart(*body);
  if (!server_us.ok()) return Error(server_us.status().message());
  const auto now_us = static_cast<uint64_t>(absl::ToUnixMicros(now()));
  // A hostile server may report an uptime beyond the host's clock; the start time is then 0, unknown.
  host_time_us_ = now_us - std::min(*server_us, now_us);
  return absl::OkStatus();
}

absl::Status BusMonitor::Await(absl::Duration patience) {
  pollfd ready[] = {{.fd = cancelled_.get(), .events = POLLIN, .revents = 0},
                    {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
  const int timeout_ms =
      patience == absl::InfiniteDuration() ? -1 : static_cast<int>(absl::ToInt64Milliseconds(patience));
  int count;
  do {
    count = poll(ready, std::size(ready), timeout_ms);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return Error(std::strerror(errno));
  if (count == 0) return absl::DeadlineExceededError(absl::StrCat("bus ", path_, ": no answer"));
  return ready[0].revents != 0 ? absl::CancelledError("cancelled") : absl::OkStatus();
}

absl::StatusOr<Bytes> BusMonitor::Receive(size_t size, absl::Duration patience) {
  Bytes bytes(size);
  for (size_t received = 0; received < size;) {
    SIDEBAND_RETURN_IF_ERROR(Await(patience));
    const ssize_t step = recv(socket_.get(), bytes.data() + received, size - received, 0);
    if (step < 0 && errno == EINTR) continue;
    // A server that closes the connection without reading the request resets it.
    if (step < 0 && errno != ECONNRESET) return Error(std::strerror(errno));
    if (step <= 0) return Error("the server closed the connection");
    received += static_cast<size_t>(step);
  }
  return bytes;
}

absl::StatusOr<Bytes> BusMonitor::ReceiveFrame(absl::Duration patience) {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Receive(smbus::kFrameHeaderBytes, patience));
  const auto size = smbus::FrameBodySize(header, smbus::kMonitorBodyBytesMax);
  if (!size.ok()) return Error(size.status().message());
  return Receive(*size, patience);
}

absl::StatusOr<std::optional<smbus::MonitorEvent>> BusMonitor::Next() {
  const auto body = ReceiveFrame(absl::InfiniteDuration());
  if (absl::IsCancelled(body.status())) return std::nullopt;
  SIDEBAND_RETURN_IF_ERROR(body.status());
  auto event = smbus::DecodeMonitorEvent(*body);
  if (!event.ok()) return Error(event.status().message());
  return *std::move(event);
}

absl::StatusOr<uint32_t> ParseBusSpeed(absl::string_view text) {
  absl::string_view digits = text;
  uint64_t factor = 1;
  if (absl::ConsumeSuffix(&digits, "k")) factor = 1'000;
  if (factor == 1 && absl::ConsumeSuffix(&digits, "M")) factor = 1'000'000;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number > kBusHzMax || number * factor < kBusHzMin ||
      number * factor > kBusHzMax) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a bus speed from 1k to 10M, such as 100k"));
  }
  return static_cast<uint32_t>(number * factor);
}

std::unique_ptr<Command> NewBusCommand() { return std::make_unique<BusCommand>(); }

}  // namespace sideband::client
