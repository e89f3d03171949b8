// SPDX-License-Identifier: Apache-2.0
#include "client/bus/trace_run.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/cli/table.h"
#include "proto/base/status_macros.h"
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

namespace {

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

}  // namespace

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

}  // namespace sideband::client
