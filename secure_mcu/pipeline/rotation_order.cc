// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/rotation_order.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "proto/base/bytes.h"

namespace sideband::mcu {
namespace {

constexpr size_t kCacheSize = 16;
using Digest = std::array<uint8_t, 32>;

Digest Hmac(ByteSpan key, ByteSpan message) {
  Digest digest;
  const auto* result = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), message.data(), message.size(),
                            digest.data(), nullptr);
  // Only memory can be missing.
  if (result == nullptr) std::abort();
  return digest;
}

Bytes MessageOf(const RotationIdentity& identity) {
  ByteWriter message;
  message.Raw(identity.uuid.bytes);
  message.U16(identity.vm);
  message.U16(identity.context);
  message.U32(identity.generation);
  message.U32(identity.life);
  message.U8(identity.channel);
  return std::move(message).Take();
}

// The draws for one permutation.
class Draws {
 public:
  Draws(const Digest& key, char kind, uint64_t block) : key_(key), kind_(kind), block_(block) {}

  // Below `bound`, all equally likely.
  uint32_t Below(uint32_t bound) {
    const uint64_t range = uint64_t{1} << 32;
    const uint64_t fair = range - range % bound;
    uint32_t word = Word();
    while (word >= fair) word = Word();
    return word % bound;
  }

 private:
  uint32_t Word() {
    if (next_ == digest_.size()) Refill();
    const uint32_t word = ByteReader(ByteSpan(digest_).subspan(next_)).U32();
    next_ += sizeof(word);
    return word;
  }

  void Refill() {
    ByteWriter message;
    message.U8(static_cast<uint8_t>(kind_));
    message.U64(block_);
    message.U32(counter_++);
    digest_ = Hmac(key_, message.written());
    next_ = 0;
  }

  const Digest& key_;
  const char kind_;
  const uint64_t block_;
  uint32_t counter_ = 0;
  Digest digest_{};
  size_t next_ = digest_.size();
};

void Permute(std::vector<uint8_t>& places, Draws draws) {
  for (size_t i = places.size() - 1; i > 0; --i)
    std::swap(places[i], places[draws.Below(static_cast<uint32_t>(i + 1))]);
}

std::vector<uint8_t> PermutationOf(size_t size, Draws draws) {
  std::vector<uint8_t> places(size);
  std::iota(places.begin(), places.end(), uint8_t{0});
  Permute(places, draws);
  return places;
}

}  // namespace

void OwnClock::Change(uint64_t cycle, bool runs) {
  if (changes_.empty() || changes_.back().runs == runs) return;
  changes_.push_back({cycle, Before(cycle), runs});
}

uint64_t OwnClock::Before(uint64_t cycle) const {
  for (auto state = changes_.rbegin(); state != changes_.rend(); ++state) {
    if (state->cycle <= cycle) return state->own + (state->runs ? cycle - state->cycle : 0);
  }
  return 0;
}

uint64_t OwnClock::CycleOf(uint64_t own) const {
  if (own == kNever) return kNever;
  for (size_t i = 0; i < changes_.size(); ++i) {
    const State& state = changes_[i];
    if (state.own >= own) return state.cycle;
    if (!state.runs) continue;
    const uint64_t cycle = state.cycle + (own - state.own);
    if (i + 1 == changes_.size() || cycle <= changes_[i + 1].cycle) return cycle;
  }
  return kNever;
}

void OwnClock::Forget(uint64_t cycle) {
  while (changes_.size() > 1 && changes_[1].cycle <= cycle) changes_.pop_front();
}

RotationSeed SeedOf(uint64_t number) {
  RotationSeed seed{};
  for (size_t i = 0; i < sizeof(number); ++i) seed[i] = static_cast<uint8_t>(number >> 8 * i);
  return seed;
}

RotationSeed DrawSeed() {
  RotationSeed seed;
  // Without random numbers nothing here is secret.
  if (RAND_bytes(seed.data(), static_cast<int>(seed.size())) != 1) std::abort();
  return seed;
}

RotationOrder::RotationOrder(const RotationSeed& seed, const RotationIdentity& identity, size_t sets)
    : key_(Hmac(seed, MessageOf(identity))), sets_(sets), columns_(kCacheSize), rows_(1) {}

const std::vector<uint8_t>& RotationOrder::Find(char kind, uint64_t block, std::vector<Permutation>& cache) {
  Permutation& cached = cache[block % cache.size()];
  if (cached.block != block) cached = {block, PermutationOf(sets_, Draws(key_, kind, block))};
  return cached.places;
}

size_t RotationOrder::SetAt(uint64_t residency, uint64_t position) {
  if (sets_ == 1) return 0;
  const size_t column = Find('c', position / sets_, columns_)[position % sets_];
  const size_t row = Find('r', residency / sets_, rows_)[residency % sets_];
  return (column + row) % sets_;
}

std::vector<uint8_t> RotationOrder::RoundOf(uint64_t residency, uint64_t round, std::span<const uint32_t> turns) const {
  std::vector<uint8_t> sets;
  for (size_t set = 0; set < turns.size(); ++set) sets.insert(sets.end(), turns[set], static_cast<uint8_t>(set));
  Permute(sets, Draws(key_, 'a', residency << 32 | (round & 0xFFFF'FFFF)));
  return sets;
}

}  // namespace sideband::mcu
