// SPDX-License-Identifier: Apache-2.0
//
// The files /dev/i2c-N that are virtual buses, as a process opens and lists them. Each descriptor is a real one, the
// socket connected to the bus, so all operations of a program on descriptors (close, poll, fork, limits) keep their
// meaning.
//   BusFiles& files = BusFiles::OfProcess();
//   if (const auto fd = files.Open("/dev/i2c-3", O_RDWR)) return *fd;                     // else it is for the system
//   if (const auto result = files.Ioctl(fd, request, argument)) return *result;           // likewise
//
// A listing of the folder has the buses as additional entries at its end.
//   FolderListing listing("/dev", {"i2c-3", "i2c-4"});
//   listing.Opened(dir);                                     // after opendir(), of any folder
//   listing.Saw(dir, entry->d_name);                         // each entry of the folder's own
//   dirent* const more = listing.Next(dir);                  // after the last of them
//   listing.Rewound(dir); listing.Closed(dir);
#ifndef SIDEBAND_SIM_BUS_BUS_FILES_H_
#define SIDEBAND_SIM_BUS_BUS_FILES_H_

#include <dirent.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/smbus/bus_name.h"
#include "sim/bus/virtual_adapter.h"

namespace sideband::i2cdev {

// Thread-safe, and usable before main(). Results are those of the system calls, or a negative errno; nullopt if the
// path or the descriptor is not that of a virtual bus.
class BusFiles {
 public:
  // Descriptors of buses are below this limit.
  static constexpr int kDescriptorsMax = 4096;
  // The time limit for the server's answer to a transaction. Distinct from the time-out of the bus, which limits the
  // time on the wire.
  static constexpr absl::Duration kPatience = absl::Seconds(2);

  // The values of kI2cDevVariable and kI2cDevFuncsVariable. A mistake in them is reported once, when a bus is opened.
  BusFiles(const std::string& buses, const std::string& functionality);
  // The instance of the process, made from the environment at the first call.
  static BusFiles& OfProcess();
  // Whether the process has ever opened a bus. Until then no descriptor needs a lookup.
  static bool EverOpened() { return ever_opened_.load(std::memory_order_relaxed); }

  // Whether `path` is /dev/i2c-N of any bus. It may be null.
  static bool IsI2cDev(const char* path);
  // The N of the bus at `path`; nullopt for every other path and for null.
  std::optional<uint32_t> NumberOf(const char* path) const;
  // "i2c-N" of each bus, in the order of N.
  std::vector<std::string> Names() const;
  std::optional<int> Open(const char* path, int flags);
  std::optional<int> Ioctl(int fd, unsigned long request, unsigned long argument);
  // flock(2): the lock is on the file that stands for the bus (LockPathOf). It may block.
  std::optional<int> Lock(int fd, int operation);
  std::optional<ssize_t> Read(int fd, void* buffer, size_t size);
  std::optional<ssize_t> Write(int fd, const void* buffer, size_t size);
  // Records that `to` is now a duplicate of `from`.
  void Duplicated(int from, int to);

 private:
  // An open file, shared by a descriptor and its duplicates.
  struct File {
    File(std::string path_, int flags_, VirtualAdapter::Options options)
        : path(std::move(path_)), flags(flags_), adapter(options) {}
    const std::string path;
    const int flags;
    absl::Mutex mu;
    VirtualAdapter adapter ABSL_GUARDED_BY(mu);
    Descriptor lock ABSL_GUARDED_BY(mu);  // opened by the first lock
  };
  // A connection to a bus. A program may close and reuse the descriptor without a call of this library (close_range, a
  // child before exec); the inode identifies the connection.
  struct Connection {
    dev_t device = 0;
    ino_t inode = 0;
    std::shared_ptr<File> file;
    // The connection is out of step with the bus, or has failed. The next use reconnects, as if an adapter reappeared.
    mutable std::atomic<bool> broken = false;
  };
  using ConnectionPtr = std::shared_ptr<const Connection>;

  // The descriptor of the file's lock, or a negative errno.
  static int LockOf(File& file);
  ConnectionPtr Find(int fd) const;
  void Set(int fd, std::shared_ptr<File> file);
  // 0, or a negative errno.
  int Reconnect(int fd, const Connection& connection);
  std::optional<ssize_t> Use(
      int fd, const std::function<ssize_t(const File&, VirtualAdapter&, const VirtualAdapter::Carry&)>& act);
  // Reports the mistake in the environment once; returns -EINVAL.
  int Refuse();

  static std::atomic<bool> ever_opened_;
  std::array<std::atomic<ConnectionPtr>, kDescriptorsMax> connections_;
  smbus::I2cDevBuses buses_;
  VirtualAdapter::Options options_;
  std::string mistake_;  // a mistake in the environment; empty: none
  std::atomic<bool> mistake_told_ = false;
};

// Keeps the remaining entries of each open DIR. Thread-safe; one DIR is used by one thread at a time, as for readdir().
class FolderListing {
 public:
  // Names have at most 255 bytes.
  FolderListing(std::string folder, std::vector<std::string> names)
      : folder_(std::move(folder)), names_(std::move(names)) {}

  // Compares the opened folder with this one by inode, since it may be opened under any path.
  void Opened(DIR* dir);
  // An entry that the folder itself has is not listed again.
  void Saw(DIR* dir, const char* name);
  // The next entry, a character device, valid until the next call or Closed(). nullptr after the last entry, and for
  // all other folders.
  dirent* Next(DIR* dir);
  void Rewound(DIR* dir);
  void Closed(DIR* dir);

 private:
  struct Listing {
    std::vector<std::string> left;  // in reverse order
    dirent entry;
  };

  // nullptr for all other folders.
  Listing* Find(DIR* dir) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::string> All() const { return {names_.rbegin(), names_.rend()}; }

  const std::string folder_;
  const std::vector<std::string> names_;
  std::atomic<size_t> open_ = 0;  // listings_.size(), so that other folders cost nothing
  absl::Mutex mu_;
  absl::flat_hash_map<DIR*, std::unique_ptr<Listing>> listings_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_BUS_BUS_FILES_H_
