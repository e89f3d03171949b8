// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/peek.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::mcu {
namespace {

// The catalogue changes far more slowly than the file is opened.
constexpr int kReopensMax = 8;

// Keeps the view open between samples.
class FollowingReader {
 public:
  explicit FollowingReader(const std::string& path) : path_(path) {}

  absl::StatusOr<GuestViewSample> Read() {
    for (int i = 0; i < kReopensMax; ++i) {
      if (reader_ == nullptr) {
        SIDEBAND_ASSIGN_OR_RETURN(reader_, GuestViewReader::Open(path_));
      }
      auto sample = reader_->Read();
      if (!absl::IsAborted(sample.status())) return sample;
      reader_ = nullptr;
    }
    return absl::UnavailableError(path_ + ": replaced again and again");
  }
  // Of the last sample.
  const GuestDirectory& directory() const { return reader_->directory(); }

 private:
  const std::string& path_;
  std::unique_ptr<GuestViewReader> reader_;
};

absl::Status PrintSample(const PeekOptions& options, FollowingReader& reader) {
  SIDEBAND_ASSIGN_OR_RETURN(const GuestViewSample sample, reader.Read());
  return options.print(options.json ? FormatPeekJson(reader.directory(), sample)
                                    : FormatPeekTable(reader.directory(), sample));
}

using Json = nlohmann::ordered_json;

const char* StateName(mailbox::BlockState state) {
  switch (state) {
    case mailbox::BlockState::kActive:
      return "active";
    case mailbox::BlockState::kIdle:
      return "idle";
    case mailbox::BlockState::kRetired:
      return "retired";
  }
  return "unknown";
}

Json BlockJson(const GuestDirectory& directory, const GuestViewSample& sample, size_t block) {
  const mailbox::Catalog& catalog = directory.catalog;
  const mailbox::BlockHeader& header = sample.blocks[block];
  Json counters = Json::object();
  for (size_t i = 0; i < catalog.events.size(); ++i) counters[catalog.events[i].name] = sample.Counters(block)[i];
  return {{"vm", catalog.vms[0].name},
          {"context", block == 0 ? Json(nullptr) : Json(catalog.contexts[block - 1].name)},
          {"generation", header.generation},
          {"state", StateName(header.state)},
          {"trigger_id", header.trigger_id},
          {"reference_time_ns", header.reference_time_ns},
          {"flags", mailbox::FlagNames(header.flags)},
          {"counters", std::move(counters)}};
}

// A name, and one cell per block.
using Row = std::vector<std::string>;

std::vector<size_t> Widths(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

// Names left-aligned, cells right-aligned.
std::string Align(const std::vector<Row>& rows) {
  const std::vector<size_t> widths = Widths(rows);
  std::string text;
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "%-*s", static_cast<int>(widths[0]), row[0]);
    for (size_t i = 1; i < row.size(); ++i) absl::StrAppendFormat(&text, "  %*s", static_cast<int>(widths[i]), row[i]);
    text += '\n';
  }
  return text;
}

std::string Title(const mailbox::Catalog& catalog, size_t block) {
  const std::string& vm = catalog.vms[0].name;
  return block == 0 ? vm : absl::StrCat(vm, "/", catalog.contexts[block - 1].name);
}

std::vector<Row> Rows(const mailbox::Catalog& catalog, const GuestViewSample& sample) {
  std::vector<Row> rows = {{"event"}, {"(state)"}};
  for (const mailbox::EventInfo& event : catalog.events) rows.push_back({event.name});
  for (size_t b = 0; b < sample.blocks.size(); ++b) {
    rows[0].push_back(Title(catalog, b));
    rows[1].push_back(StateName(sample.blocks[b].state));
    const auto counters = sample.Counters(b);
    for (size_t i = 0; i < counters.size(); ++i) rows[2 + i].push_back(absl::StrCat(counters[i]));
  }
  return rows;
}

}  // namespace

absl::Status RunPeek(const PeekOptions& options) {
  FollowingReader reader(options.file);
  do {
    SIDEBAND_RETURN_IF_ERROR(PrintSample(options, reader));
  } while (options.watch && options.wait(*options.watch));
  return absl::OkStatus();
}

std::string FormatPeekJson(const GuestDirectory& directory, const GuestViewSample& sample) {
  Json blocks = Json::array();
  for (size_t b = 0; b < sample.blocks.size(); ++b) blocks.push_back(BlockJson(directory, sample, b));
  const mailbox::VmInfo& vm = directory.catalog.vms[0];
  return Json{{"device", directory.catalog.device.ToString()},
              {"boot_id", BootIdText(directory.boot_id)},
              {"vm", vm.name},
              {"vm_uuid", vm.uuid.ToString()},
              {"trigger_id", sample.trigger_id},
              {"reference_time_ns", sample.reference_time_ns},
              {"blocks", std::move(blocks)}}
             .dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) +
         "\n";
}

std::string FormatPeekTable(const GuestDirectory& directory, const GuestViewSample& sample) {
  const mailbox::Catalog& catalog = directory.catalog;
  std::string text = absl::StrCat("trigger ", sample.trigger_id, " at ", sample.reference_time_ns, " ns\n\n",
                                  Align(Rows(catalog, sample)));
  for (size_t b = 0; b < sample.blocks.size(); ++b) {
    const auto flags = mailbox::FlagNames(sample.blocks[b].flags);
    if (!flags.empty()) absl::StrAppend(&text, Title(catalog, b), " is flagged: ", absl::StrJoin(flags, ", "), "\n");
  }
  return text;
}

}  // namespace sideband::mcu
