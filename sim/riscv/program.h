// SPDX-License-Identifier: Apache-2.0
//
// A program: its words from a file, the memory of its core, and its system calls. The file has hexadecimal numbers: one
// 32-bit word a line, the first at kProgramBase. A line has 8 digits, as in "00000513 # li a0, 0". Empty lines, and
// comments from a '#' on, are left out. The environment carries out the system calls of a user program. LinuxCalls has
// the two of Linux that a kernel of this repository makes: it writes its checksum and exits.
//   SIDEBAND_ASSIGN_OR_RETURN(const Program program, LoadProgram("threads.hex"));
//   Memory memory(0x10000, 1 << 20);
//   memory.Write(kProgramBase, program.words);
//   LinuxCalls calls;
//   Core core(memory, {.environment = &calls});
//   core.Run(1'000'000);
//   std::puts(calls.output().c_str());
//   const std::optional<uint64_t> value = memory.Load<uint64_t>(0x10008);   // nullopt: an access fault
#ifndef SIDEBAND_SIM_RISCV_PROGRAM_H_
#define SIDEBAND_SIM_RISCV_PROGRAM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

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

// The memory of one core: flat, bounded, little-endian. Not thread-safe.
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

struct Program {
  static constexpr size_t kWordsMax = size_t{1} << 20;

  std::vector<uint32_t> words;
};

// INVALID_ARGUMENT "NAME:LINE: description" for anything else, and for a program without words or with more than
// kWordsMax. The file is the user's.
absl::StatusOr<Program> ParseProgram(absl::string_view text, absl::string_view name);
// Also the errors of ReadFile (proto/base/file.h).
absl::StatusOr<Program> LoadProgram(const std::string& path);

// Carries out the system calls of a user program.
class Environment {
 public:
  struct Result {
    uint64_t a0 = 0;
    std::optional<uint8_t> exit_code;  // the program ends
  };

  virtual ~Environment() = default;
  // An ecall with a7 = `number` and a0 to a5 = `arguments`, all of which the program chose.
  virtual Result Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) = 0;
};

// 64, write: to descriptor 1 or 2, else EBADF; EFAULT for bytes outside the memory. 93, exit. All others: ENOSYS.
// Not thread-safe.
class LinuxCalls final : public Environment {
 public:
  // A write beyond this is refused with ENOSPC.
  static constexpr size_t kOutputMax = size_t{1} << 16;

  Result Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) override;

  // The bytes that the program has written.
  const std::string& output() const { return output_; }

 private:
  uint64_t Write(uint64_t descriptor, uint64_t address, uint64_t size, const Memory& memory);

  std::string output_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_PROGRAM_H_
