// SPDX-License-Identifier: Apache-2.0
//
// The memory used by a part of a test. Linking this replaces the program's operator new.
//   const MemoryMeter meter;
//   Decode(hostile_bytes);
//   EXPECT_LE(meter.peak(), 1 << 20);
#ifndef SIDEBAND_TESTS_SIMULATION_MEMORY_METER_H_
#define SIDEBAND_TESTS_SIMULATION_MEMORY_METER_H_

#include <cstddef>

namespace sideband::tests {

// At most one object at a time, used by one thread.
class MemoryMeter {
 public:
  MemoryMeter();
  // The maximum number of bytes allocated at once since construction, beyond those allocated at construction.
  size_t peak() const;

 private:
  const size_t start_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_MEMORY_METER_H_
