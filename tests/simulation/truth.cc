// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/truth.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband::tests {
namespace {

std::string Name(const BlockLife& life) {
  return absl::StrCat("boot ", life.boot_id, ", vm ", life.vm, ", context ", life.context, ", generation ",
                      life.generation);
}

BlockLife LifeOf(uint64_t boot_id, const mailbox::BlockHeader& block) {
  return {boot_id, block.vm, block.context, block.generation};
}

Truth::Counters CountersOf(const mailbox::Snapshot& snapshot, size_t block) {
  const auto counters = snapshot.Counters(block);
  return {counters.begin(), counters.end()};
}

}  // namespace

void Truth::Latched(uint64_t boot_id, const mailbox::Snapshot& snapshot, const mailbox::Catalog& catalog) {
  if (boot_id != boot_id_) {
    latches_.clear();
    vanished_.clear();
    finals_checked_ = 0;
    boot_id_ = boot_id;
  }
  latches_.push_back({snapshot, catalog, vanished_.size()});
  if (latches_.size() > kLatchesMax) latches_.pop_front();
}

void Truth::Vanished(const BlockLife& life, const Counters& counters) { vanished_.emplace_back(life, counters); }

std::string Truth::Accept(const mailbox::Snapshot& snapshot, const daemon::Topology& topology) {
  uint64_t vanished = 0;
  if (std::string wrong = CompareToLatch(snapshot, topology, vanished); !wrong.empty()) return wrong;
  if (accepted_boot_ == snapshot.boot_id) {
    if (snapshot.trigger_id <= accepted_trigger_ || snapshot.snapshot_id <= accepted_id_) {
      return absl::StrCat("snapshot ", snapshot.snapshot_id, " after ", accepted_id_);
    }
  } else {
    last_.clear();
    sums_.clear();
  }
  accepted_boot_ = snapshot.boot_id;
  accepted_trigger_ = snapshot.trigger_id;
  accepted_id_ = snapshot.snapshot_id;
  if (std::string wrong = AddDifferences(snapshot); !wrong.empty()) return wrong;
  return CheckFinals(snapshot.boot_id, vanished);
}

std::string Truth::CompareToLatch(const mailbox::Snapshot& snapshot, const daemon::Topology& topology,
                                  uint64_t& vanished) {
  const auto latch = std::find_if(latches_.begin(), latches_.end(), [&](const Latch& candidate) {
    return candidate.snapshot.trigger_id == snapshot.trigger_id;
  });
  if (snapshot.boot_id != boot_id_ || latch == latches_.end()) return "it was never latched";
  mailbox::Snapshot expected = latch->snapshot;
  // The firmware assigns these; the device does not know them.
  expected.boot_id = snapshot.boot_id;
  expected.snapshot_id = snapshot.snapshot_id;
  expected.catalog_hash = snapshot.catalog_hash;
  if (snapshot != expected) return absl::StrCat("snapshot ", snapshot.snapshot_id, " is not what was latched");
  if (topology.catalog() != latch->catalog || topology.hash() != snapshot.catalog_hash) {
    return absl::StrCat("the catalogue is not that of snapshot ", snapshot.snapshot_id);
  }
  vanished = latch->vanished;
  return "";
}

std::string Truth::AddDifferences(const mailbox::Snapshot& snapshot) {
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    const BlockLife life = LifeOf(snapshot.boot_id, snapshot.blocks[block]);
    const Counters now = CountersOf(snapshot, block);
    Counters& last = last_[life];
    Counters& sum = sums_[life];
    last.resize(now.size());
    sum.resize(now.size());
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] < last[i]) return absl::StrCat("counter ", i, " went back: ", Name(life));
      sum[i] += now[i] - last[i];
    }
    last = now;
  }
  return "";
}

std::string Truth::CheckFinals(uint64_t boot_id, uint64_t vanished) {
  if (boot_id != boot_id_) return "";
  for (; finals_checked_ < vanished; ++finals_checked_) {
    const auto& [life, final] = vanished_[finals_checked_];
    const auto sum = sums_.find(life);
    if (sum == sums_.end()) return "never seen: " + Name(life);
    if (sum->second != final) return "counts were lost: " + Name(life);
    sums_.erase(sum);
    last_.erase(life);
  }
  return "";
}

}  // namespace sideband::tests
