// SPDX-License-Identifier: Apache-2.0
#include "client/bus/mailbox_follower.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/command_text.h"
#include "client/cli/table.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/stream.h"
#include "proto/smbus/transfer.h"

namespace sideband::client {

using mailbox::Opcode;

namespace {

// The facts of a stream's header.
struct Summary {
  std::string name;
  std::string base{};
  std::string tag{};
};

Summary SummaryOf(const mailbox::StreamHeader& header) {
  const uint32_t id = header.snapshot_id;
  switch (header.kind) {
    case mailbox::StreamKind::kCatalog:
      return {"catalogue"};
    case mailbox::StreamKind::kSnapshot:
      return {absl::StrCat("snapshot ", id),
              header.base_id == 0 ? "" : absl::StrCat(" since snapshot ", header.base_id)};
    case mailbox::StreamKind::kPeek:
      return {.name = "live counters", .tag = absl::StrCat(", tag ", id)};
    case mailbox::StreamKind::kTimeline:
      return {absl::StrCat("timeline from trigger ", id, " on")};
    case mailbox::StreamKind::kHulls:
      return {absl::StrCat("hulls from trigger ", id, " on")};
    case mailbox::StreamKind::kConfig:
      return {"configuration"};
    case mailbox::StreamKind::kPlan:
      return {"plan"};
    case mailbox::StreamKind::kExchange:
      return {"exchange of keys"};
  }
  return {absl::StrFormat("kind 0x%02X", static_cast<uint8_t>(header.kind))};
}

}  // namespace

void StreamFollower::Command(const mailbox::CommandWord& command, const DataRegisters& in) {
  if (!OpensStream(command)) return;
  const bool is_at_start = command.opcode == Opcode::kLatch || command.opcode == Opcode::kPeek;
  const bool is_offset_extended = command.opcode == Opcode::kRotate || command.opcode == Opcode::kTrigger;
  const auto& given = is_offset_extended ? in.extended_data : in.data;
  const std::optional<uint32_t> offset = is_at_start ? 0 : given;
  const std::string name = StreamSubject(command, in);
  // A READ from a later byte of the same stream continues it; any other command starts another one.
  if (!open_.has_value() || open_->name != name || offset.value_or(0) == 0) Forget();
  open_ = Open{.name = name, .offset = offset};
  if (command.arg2 != 0) open_->window_bytes = command.arg2;
  // Controllers do not have to read a peek's length, which follows from its bitmap.
  if (command.opcode == Opcode::kPeek && in.data && in.extended_data) {
    length_ = mailbox::PeekStreamBytes(static_cast<size_t>(std::popcount(*in.data)) + std::popcount(*in.extended_data));
  }
}

void StreamFollower::Latched(uint32_t snapshot_id) {
  if (open_.has_value()) open_->name = absl::StrCat("snapshot ", snapshot_id);
}

void StreamFollower::Forget() {
  budget_.bytes_left += kept_.size();
  kept_ = {};
  length_.reset();
  is_told_ = false;
}

void StreamFollower::Keep(uint64_t begin, ByteSpan bytes) {
  if (begin > kept_.size() || begin + bytes.size() <= kept_.size()) return;  // a gap, or no new bytes
  const ByteSpan fresh = bytes.subspan(kept_.size() - begin);
  // Without space in the budget the stream is never complete.
  if (fresh.size() > budget_.bytes_left) return;
  budget_.bytes_left -= fresh.size();
  kept_.insert(kept_.end(), fresh.begin(), fresh.end());
}

std::string StreamFollower::Completed() {
  if (is_told_ || !length_.has_value() || *length_ == 0 || kept_.size() != *length_) return "";
  is_told_ = true;
  const auto stream = mailbox::DecodeStream(kept_);
  if (!stream.ok()) return absl::StrCat(*length_, " bytes complete, but ", stream.status().message());
  const mailbox::StreamHeader& header = stream->header;
  const Summary summary = SummaryOf(header);
  return absl::StrFormat("%s complete: %d bytes%s, CRC ok%s, boot %016x", summary.name, *length_, summary.base,
                         summary.tag, header.boot_id);
}

StreamFollower::WindowText StreamFollower::Window(uint8_t index, ByteSpan bytes) {
  if (bytes.empty()) return {"nothing there", ""};
  // The stream was opened before the trace began, or its offset is unknown.
  if (!open_.has_value() || !open_->offset.has_value()) return {absl::StrCat(bytes.size(), " bytes"), ""};
  const uint64_t begin = uint64_t{*open_->offset} + uint64_t{index} * open_->window_bytes;
  const std::string of = length_.has_value() ? absl::StrCat(" of ", *length_) : "";
  WindowText result{absl::StrCat("bytes ", begin, " to ", begin + bytes.size() - 1, of, " of ", open_->name), ""};
  Keep(begin, bytes);
  result.completed = Completed();
  return result;
}

namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;

constexpr size_t kRegisterWriteBytes = 6;  // command code, count, four bytes

bool IsRegister(uint8_t code) { return mailbox::kSharedRegisters.Has(code) || mailbox::kOwnRegisters.Has(code); }

bool IsVendorId(uint8_t code) {
  return code == mailbox::kVendorIdLowRegister || code == mailbox::kVendorIdHighRegister;
}

// The name of a command code. Registers 5C and C8 are "command" in writes and "status" in reads.
std::string CodeName(uint8_t code, bool read) {
  switch (code) {
    case mailbox::kSharedRegisters.command:
      return read ? "status" : "command";
    case mailbox::kSharedRegisters.data:
      return "data";
    case mailbox::kSharedRegisters.extended_data:
      return "extended data";
    case mailbox::kOwnRegisters.command:
      return read ? "own status" : "own command";
    case mailbox::kOwnRegisters.data:
      return "own data";
    case mailbox::kOwnRegisters.extended_data:
      return "own extended data";
    case mailbox::kSignatureRegister:
      return "signature";
    case mailbox::kVendorIdLowRegister:
      return "vendor id, low byte";
    case mailbox::kVendorIdHighRegister:
      return "vendor id, high byte";
    default:
      return mailbox::IsWindow(code) ? absl::StrCat("window ", code - mailbox::kWindowFirst)
                                     : absl::StrFormat("code 0x%02X", code);
  }
}

std::string Said(uint8_t code, absl::string_view what) {
  return absl::StrCat("-> ", CodeName(code, false), ": ", what);
}

std::string Answered(uint8_t code, absl::string_view what) {
  return absl::StrCat("<- ", CodeName(code, true), ": ", what);
}

// Marks byte `index` as the packet error code of all bytes before it. Appends a note and returns false on a mismatch.
bool CheckPec(WireMessage& message, size_t index, uint8_t pec_before, std::vector<std::string>& notes) {
  message.pec = PecByte{index, smbus::Pec(message.bytes.first(index), pec_before), message.bytes[index]};
  if (!message.pec->ok()) notes.push_back(absl::StrFormat("!! wrong PEC: %02X is right", message.pec->expected));
  return message.pec->ok();
}

std::string StatusText(MailboxStatus status) {
  const absl::string_view name = mailbox::StatusName(status);
  return name == "UNKNOWN" ? absl::StrFormat("status 0x%02X", static_cast<uint8_t>(status)) : std::string(name);
}

bool IsSameRequest(const CommandWord& a, const CommandWord& b) {
  return a.opcode == b.opcode && a.arg1 == b.arg1 && a.arg2 == b.arg2;
}

// The data in the status word; empty if the word echoes the request there. A busy device has no data yet.
std::string DataInStatus(const CommandWord& command, uint32_t word) {
  constexpr uint32_t kDataMask = 0x00FF'FFFF;
  const CommandWord status = CommandWord::Decode(word);
  if (status.execute || status.status != MailboxStatus::kSuccess) return "";
  if (std::string text = WordText(command, word & kDataMask); !text.empty()) return text;
  return command.copy_data ? absl::StrCat("data ", DataText(command, word & kDataMask)) : "";
}

}  // namespace

void MailboxFollower::Message(WireMessage& message, uint8_t pec_before, bool is_pointer, Notes& notes) {
  if (message.end == smbus::Outcome::kAddressNack) return;
  // A failed read without bytes shows nothing; the transaction's error line reports the failure.
  if (message.read && message.bytes.empty() && message.end != smbus::Outcome::kOk) return;
  if (message.read) {
    Read(message, pec_before, notes);
  } else {
    Write(message, pec_before, is_pointer, notes);
  }
}

void MailboxFollower::Write(WireMessage& message, uint8_t pec_before, bool is_pointer, Notes& notes) {
  const ByteSpan bytes = message.bytes;
  if (bytes.empty()) {
    if (message.end == smbus::Outcome::kOk) notes.push_back("-> a probe, acknowledged");
    return;
  }
  const uint8_t code = bytes[0];
  // Only register writes have a known length, so that a PEC can be recognised.
  const bool has_pec = IsRegister(code) && bytes.size() == kRegisterWriteBytes + 1;
  const bool is_right = !has_pec || CheckPec(message, kRegisterWriteBytes, pec_before, notes);
  if (!is_right || message.end != smbus::Outcome::kOk) return;  // the device discards it
  code_ = code;
  if (bytes.size() == 1) {
    if (!is_pointer) notes.push_back(absl::StrCat("-> the next read returns: ", CodeName(code, true)));
  } else if (!IsRegister(code)) {
    notes.push_back(Said(code, PluralText(bytes.size() - 1, "byte")));
  } else if (bytes[1] != mailbox::kRegisterBytes || (bytes.size() != kRegisterWriteBytes && !has_pec) ||
             (own_.codes.Has(code) && !has_pec)) {
    notes.push_back(
        Said(code, absl::StrCat("malformed, ", PluralText(bytes.size() - 2, "byte"), " after the count ", bytes[1])));
  } else {
    WriteRegister(code, ByteReader(bytes.subspan(2)).U32(), notes);
  }
}

void MailboxFollower::WriteRegister(uint8_t code, uint32_t value, Notes& notes) {
  Mailbox& mailbox = MailboxOf(code);
  if (code == mailbox.codes.command) return GiveCommand(mailbox, value, notes);
  const bool is_data = code == mailbox.codes.data;
  (is_data ? mailbox.registers.data : mailbox.registers.extended_data) = value;
  (is_data ? mailbox.data_is_input : mailbox.extended_data_is_input) = true;
  notes.push_back(Said(code, absl::StrFormat("0x%08X = %d", value, value)));
}

void MailboxFollower::GiveCommand(Mailbox& mailbox, uint32_t word, Notes& notes) {
  const CommandWord command = CommandWord::Decode(word);
  const std::string text = CommandText(command, mailbox.registers);
  if (!command.execute) {
    notes.push_back(Said(mailbox.codes.command, absl::StrCat(text, ", not executed: bit 31 is clear")));
    return;
  }
  notes.push_back(Said(mailbox.codes.command, text));
  if (OpensStreams(mailbox)) stream_.Command(command, mailbox.registers);
  // The command's output replaces its input.
  mailbox = {.codes = mailbox.codes, .registers = {}, .command = command};
}

void MailboxFollower::Read(WireMessage& message, uint8_t pec_before, Notes& notes) {
  const ByteSpan bytes = message.bytes;
  if (!code_.has_value()) {
    notes.push_back(absl::StrCat("<- ", PluralText(bytes.size(), "byte"), " of an earlier request"));
    return;
  }
  // A vendor ID register answers with one byte; the second byte, if read, is its PEC.
  if (IsVendorId(*code_) && bytes.size() > 1 && !CheckPec(message, 1, pec_before, notes)) return;
  if (!IsRegister(*code_) && !mailbox::IsWindow(*code_) && *code_ != mailbox::kSignatureRegister) {
    const bool is_byte = bytes.size() == 1 || (IsVendorId(*code_) && !bytes.empty());
    notes.push_back(Answered(*code_, is_byte ? absl::StrFormat("0x%02X", bytes[0]) : PluralText(bytes.size(), "byte")));
    return;
  }
  const size_t block = bytes.empty() ? 0 : bytes[0];
  if (bytes.size() < 1 + block || bytes.empty()) {
    notes.push_back(Answered(*code_, absl::StrCat("only ", bytes.size(), " of ", 1 + block, " bytes were read")));
    return;
  }
  // Bytes after the PEC are the idle bus's level and carry no meaning.
  if (bytes.size() > 1 + block && !CheckPec(message, 1 + block, pec_before, notes)) return;
  ReadBlock(bytes.subspan(1, block), notes);
}

void MailboxFollower::ReadBlock(ByteSpan block, Notes& notes) {
  if (mailbox::IsWindow(*code_)) {
    const StreamFollower::WindowText text = stream_.Window(*code_ - mailbox::kWindowFirst, block);
    notes.push_back(Answered(*code_, text.text));
    if (!text.completed.empty()) notes.push_back(absl::StrCat("<- ", text.completed));
  } else if (*code_ == mailbox::kSignatureRegister) {
    const auto version = mailbox::VersionOfSignature(block);
    notes.push_back(Answered(*code_, version ? absl::StrCat("extension version ", *version) : "none"));
  } else if (block.size() != mailbox::kRegisterBytes) {
    notes.push_back(Answered(*code_, absl::StrCat("a block of ", PluralText(block.size(), "byte"), ", not 4")));
  } else {
    ReadRegister(*code_, ByteReader(block).U32(), notes);
  }
}

void MailboxFollower::ReadRegister(uint8_t code, uint32_t value, Notes& notes) {
  Mailbox& mailbox = MailboxOf(code);
  if (code == mailbox.codes.command) return ReadStatus(mailbox, value, notes);
  const bool is_data = code == mailbox.codes.data;
  (is_data ? mailbox.registers.data : mailbox.registers.extended_data) = value;
  // A register that was written after the command reads back as that input, not as the command's output.
  const bool is_input = is_data ? mailbox.data_is_input : mailbox.extended_data_is_input;
  const bool is_output = mailbox.command.has_value() && !mailbox.has_failed && !is_input;
  if (is_output && OpensStreams(mailbox)) FeedStream(*mailbox.command, is_data, value);
  notes.push_back(Answered(code, !is_output ? absl::StrFormat("0x%08X", value)
                                 : is_data  ? DataText(*mailbox.command, value)
                                            : ExtendedDataText(*mailbox.command, value)));
}

void MailboxFollower::FeedStream(const CommandWord& command, bool is_data, uint32_t value) {
  const bool is_latch = command.opcode == mailbox::Opcode::kLatch;
  if (is_latch && is_data) stream_.Latched(value);
  // LATCH returns the stream's length in extended data; the others return it in data.
  if (OpensStream(command) && is_latch != is_data) stream_.Length(value);
}

void MailboxFollower::ReadStatus(Mailbox& mailbox, uint32_t word, Notes& notes) {
  const std::optional<CommandWord>& command = mailbox.command;
  const CommandWord status = CommandWord::Decode(word);
  // The status word's low 24 bits can hold data in place of the arguments and the opcode.
  const std::string data = command.has_value() ? DataInStatus(*command, word) : "";
  const CommandWord& shown = data.empty() ? status : *command;
  std::string text = absl::StrCat(OpcodeText(static_cast<uint8_t>(shown.opcode)), " ",
                                  status.execute ? "busy" : StatusText(status.status));
  if (!data.empty()) absl::StrAppend(&text, ", ", data);
  // A malformed request (ERR_REQUEST) has no arguments to echo.
  if (command.has_value() && data.empty() && !IsSameRequest(*command, status) &&
      status.status != MailboxStatus::kErrRequest) {
    text += ", not of the last command";
  }
  if (!status.execute && status.copy_data) text += ", an event is pending";
  notes.push_back(Answered(mailbox.codes.command, text));
  // Busy and NULL are not final.
  if (status.execute || status.status == MailboxStatus::kNull) return;
  const bool is_good = status.status == MailboxStatus::kSuccess || status.status == MailboxStatus::kAccepted;
  mailbox.has_failed = !is_good;
  // Other commands leave the open stream as it was.
  if (mailbox.has_failed && command && OpensStream(*command) && OpensStreams(mailbox)) stream_.Failed();
}

}  // namespace sideband::client
