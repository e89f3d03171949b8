// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/thin.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

// Decodes and encodes with one array of values: it is reset to zero after each kept frame, so that decoding accumulates
// exactly the differences that the next kept frame needs.
class Thinner {
 public:
  Thinner(const ChunkView* tail, const ChunkView& source, uint32_t every)
      : source_(source),
        every_(every),
        out_(tail == nullptr ? ByteSpan() : tail->written()),
        differences_(source.layout().values(), 0) {
    if (tail != nullptr) StartFrom(*tail);
    result_.every = every;
  }

  std::optional<ChunkView> Run() && {
    ByteSpan left = source_.written();
    FrameHeader header;
    for (uint32_t frame = 1; frame <= source_.frames && DecodeFrame(left, header, differences_); ++frame) {
      const bool is_end = source_.is_final && frame == source_.frames;
      // By publication, not by place: repeated thinning of any pieces keeps the same snapshots.
      if (header.publication % every_ == 0 || is_end) Keep(header);
      result_.is_final = is_end;
    }
    if (result_.frames == 0) return std::nullopt;
    return std::move(*this).Result();
  }

 private:
  void StartFrom(const ChunkView& tail) {
    result_ = tail;
    ByteSpan left = tail.written();
    while (DecodeFrame(left, kept_, differences_)) {
    }
    // Frames of `source` start from zero, those appended to `tail` from its last frame: its negated values make up for
    // this.
    for (uint64_t& value : differences_) value = 0 - value;
  }

  void Keep(const FrameHeader& header) {
    EncodeDifferences(kept_, header, differences_, out_);
    std::fill(differences_.begin(), differences_.end(), 0);
    kept_ = header;
    result_.Add(header, out_.written().size());
  }

  ChunkView Result() && {
    const auto chunk = std::make_shared<Chunk>(source_.layout(), out_.written().size());
    std::copy(out_.written().begin(), out_.written().end(), chunk->bytes.get());
    result_.chunk = chunk;
    return std::move(result_);
  }

  const ChunkView& source_;
  const uint32_t every_;
  GrowingSink out_;
  std::vector<uint64_t> differences_;
  FrameHeader kept_;
  ChunkView result_;
};

}  // namespace

std::optional<ChunkView> Thin(const ChunkView* tail, const ChunkView& source, uint32_t every) {
  return Thinner(tail, source, every).Run();
}

}  // namespace sideband::daemon
