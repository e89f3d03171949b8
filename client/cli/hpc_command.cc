// SPDX-License-Identifier: Apache-2.0
#include "client/cli/hpc_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/console.h"
#include "client/cli/options.h"
#include "client/cli/table.h"
#include "client/lib/register_counters.h"
#include "client/lib/register_page.h"
#include "proto/base/event_name.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/registers/event_list.h"

namespace sideband::client {
namespace {

// No event's name begins with a digit.
bool BeginsWithDigit(absl::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

absl::StatusOr<hpc::ListedEvent> ByNumber(const std::string& word, const std::vector<hpc::ListedEvent>& listed) {
  uint32_t id = 0;
  if (!absl::SimpleAtoi(word, &id) || id >= hpc::kEventsMax) {
    return absl::OutOfRangeError(
        absl::StrCat("--event: '", word, "' is not the number of an event, from 0 to ", hpc::kEventsMax - 1));
  }
  const auto found = std::ranges::find(listed, id, &hpc::ListedEvent::id);
  return hpc::ListedEvent{static_cast<uint16_t>(id), found == listed.end() ? absl::StrCat(id) : found->name};
}

absl::StatusOr<hpc::ListedEvent> ByName(const std::string& word, const std::vector<hpc::ListedEvent>& listed) {
  const auto event = FindEvent(word, [&](const std::string& exact) {
    const auto found = std::ranges::find(listed, exact, &hpc::ListedEvent::name);
    return found == listed.end() ? nullptr : &*found;
  });
  if (event != nullptr) return *event;
  std::vector<std::string> names;
  for (const hpc::ListedEvent& event : listed) names.push_back(event.name);
  return absl::NotFoundError(absl::StrCat("--event: unknown event '", word, "'", DidYouMean(word, names)));
}

using Align = Table::Align;
using Fit = Table::Fit;

// The difference; a new generation of a context begins at 0.
std::string ChangeText(uint64_t before, uint64_t now, const TableStyle& style) {
  return now >= before ? CountText(now - before, style) : absl::StrCat("-", CountText(before - now, style));
}

constexpr TableStyle kPlain = {.raw = true};

// Beside a guest port (secure_mcu/serve).
constexpr char kEventsFile[] = "events.csv";
constexpr size_t kEventsFileBytesMax = 1 << 20;
constexpr char kVm[] = "vm";
// They are words, because CLI11 gives no reason where a number is malformed.
constexpr char kHalves[] = "4";
constexpr char kWords[] = "8";
const std::map<std::string, Reader> kReaders = {
    {"optimistic", Reader::kOptimistic}, {"patient", Reader::kPatient}, {"eager", Reader::kEager}};

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckDuration(const std::string& text) {
  const auto duration = ParseLength(text);
  const bool good = duration && *duration >= absl::Milliseconds(1) && *duration <= absl::Hours(24);
  return good ? "" : absl::StrCat("'", text, "' is not a duration from 1ms to 24h, such as 5s");
}

absl::Duration DurationOf(const std::string& text) { return ParseLength(text).value_or(absl::ZeroDuration()); }

// FILE or FILE@OFFSET, where the offset may be hexadecimal.
absl::StatusOr<std::unique_ptr<RegisterPage>> OpenMemoryPage(const std::string& text) {
  const size_t at = text.rfind('@');
  uint64_t offset = 0;
  if (at != std::string::npos && !absl::SimpleAtoi(text.substr(at + 1), &offset) &&
      !absl::SimpleHexAtoi(text.substr(at + 1), &offset)) {
    return absl::InvalidArgumentError(absl::StrCat("--page: '", text.substr(at + 1), "' is not an offset"));
  }
  return MemoryPage::Open(text.substr(0, at), offset);
}

class HpcCommand final : public Command {
 public:
  std::string name() const override { return "hpc"; }
  std::string description() const override { return "Read a guest's own counters from registers, inside the guest"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer("Example:\n  sideband hpc read --port guests/vm1.train.sock --event tensor_active_cycles");
    DefineRead(*app.add_subcommand("read", "Print what the counters are now"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<hpc::ListedEvent> events, Events());
    const InterruptWatcher watcher(context.cancellation());
    SIDEBAND_ASSIGN_OR_RETURN(const auto page, OpenPage(context));
    const absl::Status status = ReadOften(*page, std::move(events), context);
    if (status.ok() || context.cancellation().cancelled()) return absl::OkStatus();
    // A refusal of the registers is not a mistake in the input.
    return ExitCode(status) ? status : WithExitCode(Explained(status), 1);
  }

 private:
  void DefineRead(CLI::App& app) {
    auto* const port =
        app.add_option("--port", port_, "The guest port of the VM or context, a socket")->type_name("SOCKET");
    app.add_option("--page", page_, "Registers in memory instead: a PCI resource or a driver's file, at an offset")
        ->type_name("FILE[@OFFSET]")
        ->excludes(port);
    app.add_option("--event", words_, "An event, by name or by number (64 * extend + bit); repeatable")
        ->type_name("EVENT")
        ->required()
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    app.add_option("--events", events_file_,
                   "The list of the events' numbers (CSV: id,event); default: events.csv beside the port")
        ->type_name("FILE");
    app.add_option("--module", module_, "Whose counters: context, or vm (for the VM's own port)")
        ->check(CLI::IsMember({"context", kVm}))
        ->type_name("MODULE")
        ->capture_default_str();
    app.add_option("--slice", slice_, "The slice on which the VM or context runs; default: found automatically")
        ->check(CLI::Range(uint32_t{0}, hpc::kModulesPerScope - 1))
        ->type_name("N");
    DefineReader(app);
    app.footer(
        "The counts of each 64 successive numbers are taken in one cycle.\n"
        "Examples:\n"
        "  sideband hpc read --port guests/vm1.train.sock --event tensor_active_cycles --shared\n"
        "  sideband hpc read --port guests/vm1.sock --module vm --event 0 --event 70 --stamp --format json\n"
        "  sideband hpc read --page /sys/bus/pci/devices/0000:41:00.0/resource2@0x1000 --slice 3 --event 5");
  }

  void DefineReader(CLI::App& app) {
    app.add_flag("--shared", options_.is_shared, "Begin again when a context switch interrupts, up to eight times");
    app.add_option(
           "--reader", reader_,
           "When to take the values: optimistic (at once), patient (once all are there) or eager (as they arrive)")
        ->check(CLI::IsMember(kReaders))
        ->type_name("READER")
        ->capture_default_str();
    app.add_flag("--stamp", options_.stamp, "Also print the reference cycle of the counts");
    app.add_option("--access-bytes", access_bytes_, "Size of the accesses to the registers: 4 or 8")
        ->check(CLI::IsMember({kHalves, kWords}))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--timeout", timeout_, "The longest wait until the VM or context is on the slice, and for values")
        ->check(CheckDuration)
        ->type_name("DURATION")
        ->capture_default_str();
    app.add_option("-n,--count", count_, "End after this number of readings")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--interval", interval_, "Time between readings")
        ->check(CheckDuration)
        ->type_name("DURATION")
        ->capture_default_str();
    format_.AddWithoutCsvTo(app);
    app.add_flag("--raw", format_.style.raw, "Numbers in full, without groups");
  }

  // The path of the list; empty if there is none.
  std::string EventsFile() const {
    if (!events_file_.empty() || port_.empty()) return events_file_;
    std::error_code error;
    return std::filesystem::exists(BesidePort(), error) ? BesidePort() : "";
  }

  std::string BesidePort() const { return std::filesystem::path(port_).parent_path() / kEventsFile; }

  absl::Status NoList() const {
    constexpr char kNeeded[] = "--event: a name needs a list of events, --events FILE";
    return absl::InvalidArgumentError(port_.empty() ? kNeeded : absl::StrCat(kNeeded, "; there is no ", BesidePort()));
  }

  absl::StatusOr<std::vector<hpc::ListedEvent>> Events() const {
    if (port_.empty() == page_.empty())
      return absl::InvalidArgumentError("hpc read: either --port or --page is needed");
    const std::string file = EventsFile();
    if (file.empty()) {
      if (HasName(words_)) return NoList();
      return ChooseEvents(words_, {});
    }
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kEventsFileBytesMax));
    SIDEBAND_ASSIGN_OR_RETURN(const auto listed, hpc::ParseEventList(text, file));
    return ChooseEvents(words_, listed);
  }

  absl::StatusOr<std::unique_ptr<RegisterPage>> OpenPage(CommandContext& context) const {
    if (!page_.empty()) return OpenMemoryPage(page_);
    return SocketPage::Connect(port_, {.patience = DurationOf(timeout_),
                                       .wait = [&](absl::Duration duration) { return context.Wait(duration); }});
  }

  absl::StatusOr<uint16_t> Module(RegisterPage& page, const ReadOptions& options) const {
    const auto first = static_cast<uint16_t>(module_ == kVm ? hpc::kModuleVm : hpc::kModuleContext);
    if (slice_) return static_cast<uint16_t>(first + *slice_);
    return FindModule(page, first, hpc::kModulesPerScope, options);
  }

  absl::Status ReadOften(RegisterPage& page, std::vector<hpc::ListedEvent> events, CommandContext& context) const {
    ReadOptions options = options_;
    options.reader = kReaders.at(reader_);
    options.access_bytes = access_bytes_ == kHalves ? 4 : 8;
    options.patience = DurationOf(timeout_);
    const std::vector<uint16_t> ids = IdsOf(events);
    ReadingText text(std::move(events));
    const TableStyle style = context.StyleOf(format_.style);
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t module, Module(page, options));
    for (uint64_t i = 0; i < count_; ++i) {
      if (i > 0 && context.Wait(DurationOf(interval_))) break;
      SIDEBAND_ASSIGN_OR_RETURN(const EventReading reading, ReadEvents(page, module, ids, options));
      SIDEBAND_RETURN_IF_ERROR(
          context.out().Write(format_.json() ? text.JsonLine(reading) : text.Table(reading, style)));
    }
    return absl::OkStatus();
  }

  static absl::Status Explained(const absl::Status& status) {
    if (!absl::IsAborted(status)) return status;
    return absl::AbortedError(absl::StrCat(status.message(), "; --shared begins again"));
  }

  std::string port_;
  std::string page_;
  std::vector<std::string> words_;
  std::string events_file_;
  std::string module_ = "context";
  std::optional<uint32_t> slice_;
  ReadOptions options_;
  std::string reader_ = "optimistic";
  std::string access_bytes_ = kWords;
  std::string timeout_ = "10s";
  uint64_t count_ = 1;
  std::string interval_ = "1s";
  FormatOption format_;
};

}  // namespace

absl::StatusOr<std::vector<hpc::ListedEvent>> ChooseEvents(const std::vector<std::string>& words,
                                                           const std::vector<hpc::ListedEvent>& listed) {
  std::vector<hpc::ListedEvent> chosen;
  for (const std::string& word : words) {
    SIDEBAND_ASSIGN_OR_RETURN(chosen.emplace_back(),
                              BeginsWithDigit(word) ? ByNumber(word, listed) : ByName(word, listed));
  }
  return chosen;
}

std::vector<uint16_t> IdsOf(const std::vector<hpc::ListedEvent>& events) {
  std::vector<uint16_t> ids;
  for (const hpc::ListedEvent& event : events) ids.push_back(event.id);
  return ids;
}

bool HasName(const std::vector<std::string>& words) { return !std::ranges::all_of(words, BeginsWithDigit); }

std::string ReadingText::Table(const EventReading& reading, const TableStyle& style) {
  client::Table table({{"EVENT", Align::kLeft, Fit::kMiddle},
                       {"COUNT", Align::kRight},
                       {"CHANGE", Align::kRight, Fit::kIfAny},
                       {"CYCLE", Align::kRight, Fit::kIfAny}});
  for (size_t i = 0; i < events_.size(); ++i) {
    table.Add({events_[i].name, CountText(reading.counts[i], style),
               before_.empty() ? "" : ChangeText(before_[i], reading.counts[i], style),
               reading.stamps.empty() ? "" : CountText(reading.stamps[i], style)});
  }
  const std::string space = before_.empty() ? "" : "\n";
  before_ = reading.counts;
  return space + table.Render(style);
}

std::string ReadingText::JsonLine(const EventReading& reading) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < events_.size(); ++i) {
    nlohmann::ordered_json row = {
        {"event", events_[i].name}, {"id", events_[i].id}, {"count", absl::StrCat(reading.counts[i])}};
    if (!before_.empty()) row["change"] = ChangeText(before_[i], reading.counts[i], kPlain);
    if (!reading.stamps.empty()) row["cycle"] = absl::StrCat(reading.stamps[i]);
    rows.push_back(std::move(row));
  }
  before_ = reading.counts;
  const nlohmann::ordered_json line = {{"events", std::move(rows)}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::unique_ptr<Command> NewHpcCommand() { return std::make_unique<HpcCommand>(); }

}  // namespace sideband::client
