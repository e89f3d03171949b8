// SPDX-License-Identifier: Apache-2.0
//
// An array of zeros whose pages take memory only once they are used: the memory of a core is large and mostly empty.
//   ZeroedArray<uint8_t> bytes(size_t{16} << 20);
//   bytes[5] = 1;
#ifndef SIDEBAND_SIM_RISCV_ZEROED_ARRAY_H_
#define SIDEBAND_SIM_RISCV_ZEROED_ARRAY_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace sideband::riscv {

// An element is valid if all its bytes are 0. Not thread-safe. Throws std::bad_alloc as new does.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit ZeroedArray(size_t size) : size_(size), elements_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
    if (elements_ == nullptr && size > 0) throw std::bad_alloc();
  }

  T* data() { return elements_.get(); }
  const T* data() const { return elements_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t index) { return elements_.get()[index]; }
  const T& operator[](size_t index) const { return elements_.get()[index]; }

 private:
  struct Free {
    void operator()(T* elements) const { std::free(elements); }
  };

  size_t size_;
  std::unique_ptr<T, Free> elements_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_ZEROED_ARRAY_H_
