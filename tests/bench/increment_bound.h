// SPDX-License-Identifier: Apache-2.0
//
// A lower bound for the size of a snapshot's increments: the information of each increment that no sum of others
// implies, under the best of several adaptive models.
//   const uint64_t bytes = IncrementBoundBytes(before, now);
#ifndef SIDEBAND_TESTS_BENCH_INCREMENT_BOUND_H_
#define SIDEBAND_TESTS_BENCH_INCREMENT_BOUND_H_

#include <cstdint>

#include "proto/mailbox/snapshot.h"

namespace sideband::bench {

// The increments of contexts only: those of VMs and of the device are their sums. A model predicts a number for each
// increment, and codes the width of the difference by the frequencies of the widths so far (Krichevsky-Trofimov), then
// the difference's bits below its highest one, which are incompressible. The models predict nothing, a counter's share
// of the sum of its context's increments, and its share by the counter before in the catalogue. Both snapshots have the
// same blocks.
uint64_t IncrementBoundBytes(const mailbox::Snapshot& before, const mailbox::Snapshot& now);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_INCREMENT_BOUND_H_
