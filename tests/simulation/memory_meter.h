// SPDX-License-Identifier: Apache-2.0
//
// How much memory a part of a test takes. A program that links this has its operator new replaced.
//   const MemoryMeter meter;
//   Decode(hostile_bytes);
//   EXPECT_LE(meter.peak(), 1 << 20);
#ifndef SIDEBAND_TESTS_SIMULATION_MEMORY_METER_H_
#define SIDEBAND_TESTS_SIMULATION_MEMORY_METER_H_

#include <cstddef>

namespace sideband::tests {

// One at a time, and used by one thread.
class MemoryMeter {
 public:
  MemoryMeter();
  // The most bytes that were held at once since the start, beyond those that were held then.
  size_t peak() const;

 private:
  const size_t start_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_MEMORY_METER_H_
