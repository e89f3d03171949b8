// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/peek.h"

#include <memory>
#include <utility>

#include "proto/base/status_macros.h"

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

}  // namespace

absl::Status RunPeek(const PeekOptions& options) {
  FollowingReader reader(options.file);
  do {
    SIDEBAND_RETURN_IF_ERROR(PrintSample(options, reader));
  } while (options.watch && options.wait(*options.watch));
  return absl::OkStatus();
}

}  // namespace sideband::mcu
