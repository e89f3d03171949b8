// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/reader.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::mcu {
namespace {

// Rejects files that are not regular, and files that are too large. O_NONBLOCK in Open keeps a pipe from blocking
// before this check.
absl::StatusOr<uint64_t> RegularFileSize(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(status.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > kGuestViewBytesMax) return absl::OutOfRangeError(absl::StrCat(path, ": too large for a guest view"));
  return size;
}

// Completes all earlier loads before any later load, including the kernel's loads for this thread. gcc rejects
// std::atomic_thread_fence under its thread sanitizer.
void LoadBarrier() { __sync_synchronize(); }

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
  // That of the last sample.
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

absl::StatusOr<std::unique_ptr<GuestViewReader>> GuestViewReader::Open(const std::string& path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return ErrnoStatus(errno, path);
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t size, RegularFileSize(fd.get(), path));
  std::unique_ptr<GuestViewReader> reader(new GuestViewReader(path, std::move(fd)));
  SIDEBAND_RETURN_IF_ERROR(reader->ReadDirectory());
  if (size != reader->live_offset_ + reader->layout_.bytes()) {
    return reader->Error(absl::DataLossError("guest view: wrong length"));
  }
  reader->words_.resize(reader->layout_.words());
  return reader;
}

absl::Status GuestViewReader::Error(const absl::Status& status) const { return AtLine(status, path_, 0); }

absl::Status GuestViewReader::ReadDirectory() {
  Bytes bytes(kGuestPrologueBytes);
  SIDEBAND_RETURN_IF_ERROR(Fetch(0, bytes));
  const auto size = GuestDirectorySize(bytes);
  if (!size.ok()) return Error(size.status());
  bytes.resize(*size);
  SIDEBAND_RETURN_IF_ERROR(Fetch(0, bytes));
  auto directory = DecodeGuestDirectory(bytes);
  if (!directory.ok()) return Error(directory.status());
  directory_ = *std::move(directory);
  live_offset_ = *size;
  layout_ = GuestLiveLayout::Of(directory_.catalog);
  return absl::OkStatus();
}

absl::Status GuestViewReader::Fetch(uint64_t offset, std::span<uint8_t> to) const {
  while (!to.empty()) {
    const ssize_t count = pread(fd_.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, path_);
    if (count == 0) return Error(absl::DataLossError("guest view: truncated"));
    to = to.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

absl::Status GuestViewReader::FetchWords(size_t first, std::span<uint64_t> to) const {
  SIDEBAND_RETURN_IF_ERROR(
      Fetch(live_offset_ + first * sizeof(uint64_t), {reinterpret_cast<uint8_t*>(to.data()), to.size_bytes()}));
  for (uint64_t& word : to) word = LittleEndianWord(word);
  return absl::OkStatus();
}

// Fetches the head, the words between, then the tail: in three calls, since a single call may copy in any order.
// Returns false if the writer was active meanwhile.
absl::StatusOr<bool> GuestViewReader::FetchWhole() {
  const std::span<uint64_t> words(words_);
  SIDEBAND_RETURN_IF_ERROR(FetchWords(0, words.first(1)));
  LoadBarrier();
  SIDEBAND_RETURN_IF_ERROR(FetchWords(1, words.subspan(1, words.size() - 2)));
  LoadBarrier();
  SIDEBAND_RETURN_IF_ERROR(FetchWords(layout_.TailWord(), words.last(1)));
  return words.front() == words.back() && words.front() % 2 == 0;
}

absl::StatusOr<GuestViewSample> GuestViewReader::Read() {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool is_whole, FetchWhole());
    // Checked first: the writer of a superseded file has stopped, and nothing else in it is current.
    if (words_[GuestLiveLayout::kSupersededWord] != 0) {
      return Error(absl::AbortedError("guest view: superseded; open it again"));
    }
    if (is_whole && words_[GuestLiveLayout::kHeadWord] == 0) {
      return Error(absl::UnavailableError("guest view: nothing is published yet"));
    }
    if (is_whole) return Decode();
    sched_yield();  // the writer may be waiting for this processor
  }
  return Error(absl::UnavailableError("guest view: its writer does not finish"));
}

absl::StatusOr<GuestViewSample> GuestViewReader::Decode() const {
  GuestViewSample sample{.trigger_id = static_cast<uint32_t>(words_[GuestLiveLayout::kTriggerWord]),
                         .reference_time_ns = words_[GuestLiveLayout::kTimeWord],
                         .sequence = words_[GuestLiveLayout::kHeadWord],
                         .counters_per_block = static_cast<uint32_t>(layout_.events)};
  const mailbox::Catalog& catalog = directory_.catalog;
  sample.blocks.reserve(layout_.blocks);
  sample.counters.reserve(layout_.blocks * layout_.events);
  for (size_t b = 0; b < layout_.blocks; ++b) {
    const auto words =
        std::span(words_).subspan(layout_.BlockWord(b), GuestLiveLayout::kBlockHeaderWords + layout_.events);
    mailbox::BlockHeader header{.vm = catalog.vms[0].id,
                                .context = b == 0 ? mailbox::kNoContext : catalog.contexts[b - 1].id};
    if (absl::Status status = UnpackGuestBlock(words, header); !status.ok()) return Error(status);
    sample.blocks.push_back(header);
    const auto counters = words.subspan(GuestLiveLayout::kBlockHeaderWords);
    sample.counters.insert(sample.counters.end(), counters.begin(), counters.end());
  }
  return sample;
}

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
