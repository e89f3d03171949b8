// SPDX-License-Identifier: Apache-2.0
//
// The memory of one core: flat, bounded, little-endian.
//   Memory memory(0x10000, 1 << 20);
//   memory.Write(kProgramBase, words);
//   const std::optional<uint64_t> value = memory.Load<uint64_t>(0x10008);   // nullopt: an access fault
#ifndef SIDEBAND_SIM_RISCV_MEMORY_H_
#define SIDEBAND_SIM_RISCV_MEMORY_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>

namespace sideband::riscv {

// An array of zeros whose pages take memory only once they are used: the memory of a core is large and mostly empty.
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

static_assert(std::endian::native == std::endian::little, "loads and stores copy the bytes of the core's memory");

// Not thread-safe.
class Memory {
 public:
  // The unit of base and size, so that no cache line lies across an end.
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint64_t kBytesMax = uint64_t{1} << 30;

  // [base, base + size), all zero. `base` and `size` are multiples of kPageBytes, and `size` is 1 to kBytesMax.
  Memory(uint64_t base, uint64_t size) : base_(base), bytes_(size) {}

  uint64_t base() const { return base_; }
  uint64_t size() const { return bytes_.size(); }
  uint64_t end() const { return base_ + bytes_.size(); }

  // Whether all of [address, address + size) is memory.
  bool Contains(uint64_t address, uint64_t size) const {
    return size <= bytes_.size() && address - base_ <= bytes_.size() - size;
  }

  // At any alignment; nullopt or false, without an effect, outside the memory.
  template <typename T>
  std::optional<T> Load(uint64_t address) const {
    if (!Contains(address, sizeof(T))) return std::nullopt;
    return At<T>(address - base_);
  }
  template <typename T>
  bool Store(uint64_t address, T value) {
    if (!Contains(address, sizeof(T))) return false;
    Put(address - base_, value);
    return true;
  }
  // Copies words to `address`; false, without an effect, unless all fit.
  bool Write(uint64_t address, std::span<const uint32_t> words) {
    if (!Contains(address, words.size_bytes())) return false;
    if (!words.empty()) std::memcpy(bytes_.data() + (address - base_), words.data(), words.size_bytes());
    return true;
  }

  // Unchecked: `offset`, in bytes from base(), must be at most size() - sizeof(T).
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  template <typename T>
  void Put(uint64_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }

 private:
  const uint64_t base_;
  ZeroedArray<uint8_t> bytes_;
};

// The start of every core's memory, and of its program. The pages below do not exist, as under Linux.
inline constexpr uint64_t kProgramBase = 0x10000;

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_MEMORY_H_
