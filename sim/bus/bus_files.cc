// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/bus_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::i2cdev {
namespace {

constexpr char kDevicePrefix[] = "/dev/i2c-";

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The N of /dev/i2c-N in the kernel's notation: decimal, without leading zeros.
std::optional<uint32_t> BusNumber(absl::string_view path) {
  uint32_t number = 0;
  if (!absl::ConsumePrefix(&path, kDevicePrefix) || path.empty()) return std::nullopt;
  if (!std::all_of(path.begin(), path.end(), absl::ascii_isdigit) || (path.size() > 1 && path[0] == '0')) {
    return std::nullopt;
  }
  if (!absl::SimpleAtoi(path, &number)) return std::nullopt;
  return number;
}

// A bus without a server appears as a device without an adapter; a missing socket as a missing device.
int OpenErrno(int error) {
  switch (error) {
    case ECONNREFUSED:
      return ENXIO;
    case EAGAIN:  // the server's queue of connections is full
      return EBUSY;
    default:
      return error;
  }
}

// Connections are close-on-exec and non-blocking; undoes each flag that the program did not request.
void SetFlags(int fd, int flags) {
  if ((flags & O_CLOEXEC) == 0) fcntl(fd, F_SETFD, 0);
  if ((flags & O_NONBLOCK) == 0) fcntl(fd, F_SETFL, 0);
}

bool IsFolder(int fd, const char* path) {
  struct stat opened = {}, wanted = {};
  return fstat(fd, &opened) == 0 && fstatat(AT_FDCWD, path, &wanted, 0) == 0 && opened.st_dev == wanted.st_dev &&
         opened.st_ino == wanted.st_ino;
}

}  // namespace

std::atomic<bool> BusFiles::ever_opened_ = false;

BusFiles::BusFiles(const std::string& buses, const std::string& functionality) {
  auto parsed = smbus::ParseI2cDevBuses(buses);
  if (parsed.ok()) {
    buses_ = *std::move(parsed);
  } else {
    mistake_ = absl::StrCat(smbus::kI2cDevVariable, ": ", parsed.status().message());
  }
  options_.smbus_only = functionality == "smbus";
  if (!functionality.empty() && functionality != "all" && functionality != "smbus") {
    mistake_ = absl::StrCat(smbus::kI2cDevFuncsVariable, ": must be all or smbus, not '", functionality, "'");
  }
}

BusFiles& BusFiles::OfProcess() {
  // Never destroyed: other libraries use descriptors until the process ends.
  static BusFiles* const files = new BusFiles(Variable(smbus::kI2cDevVariable), Variable(smbus::kI2cDevFuncsVariable));
  return *files;
}

bool BusFiles::IsI2cDev(const char* path) { return path != nullptr && BusNumber(path).has_value(); }

std::optional<uint32_t> BusFiles::NumberOf(const char* path) const {
  const auto number = path == nullptr ? std::nullopt : BusNumber(path);
  return number && buses_.contains(*number) ? number : std::nullopt;
}

std::vector<std::string> BusFiles::Names() const {
  std::vector<uint32_t> numbers;
  for (const auto& [number, path] : buses_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> names;
  for (const uint32_t number : numbers) names.push_back(absl::StrCat("i2c-", number));
  return names;
}

int BusFiles::Refuse() {
  if (!mistake_told_.exchange(true)) std::fprintf(stderr, "sideband-i2cdev: %s\n", mistake_.c_str());
  return -EINVAL;
}

std::optional<int> BusFiles::Open(const char* path, int flags) {
  const auto number = path == nullptr ? std::nullopt : BusNumber(path);
  if (!number) return std::nullopt;
  if (!mistake_.empty()) return Refuse();
  const auto bus = buses_.find(*number);
  if (bus == buses_.end()) return std::nullopt;
  if ((flags & O_DIRECTORY) != 0) return -ENOTDIR;
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return -EEXIST;
  const int fd = smbus::ConnectToBus(bus->second);
  if (fd < 0) return -OpenErrno(-fd);
  if (fd >= kDescriptorsMax) {
    close(fd);
    return -EMFILE;
  }
  SetFlags(fd, flags);
  Set(fd, std::make_shared<File>(bus->second, flags, options_));
  // Last: until then no call looks descriptors up.
  ever_opened_ = true;
  return fd;
}

void BusFiles::Set(int fd, std::shared_ptr<File> file) {
  struct stat status = {};
  fstat(fd, &status);
  auto connection = std::make_shared<Connection>();
  connection->device = status.st_dev;
  connection->inode = status.st_ino;
  connection->file = std::move(file);
  connections_[fd].store(std::move(connection));
}

BusFiles::ConnectionPtr BusFiles::Find(int fd) const {
  if (fd < 0 || fd >= kDescriptorsMax) return nullptr;
  ConnectionPtr connection = connections_[fd].load();
  if (connection == nullptr) return nullptr;
  struct stat status = {};
  // The program may have closed or reused the descriptor without a call of this library.
  if (fstat(fd, &status) != 0) return nullptr;
  return status.st_dev == connection->device && status.st_ino == connection->inode ? connection : nullptr;
}

void BusFiles::Duplicated(int from, int to) {
  // `to` needs no check: Find compares its inode at every use.
  if (from < 0 || from >= kDescriptorsMax || to < 0 || to >= kDescriptorsMax) return;
  if (const ConnectionPtr connection = Find(from)) connections_[to].store(connection);
}

int BusFiles::Reconnect(int fd, const Connection& connection) {
  const int fresh = smbus::ConnectToBus(connection.file->path);
  if (fresh < 0) return -ENODEV;
  const int close_on_exec = (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
  SetFlags(fresh, fcntl(fd, F_GETFL));
  // dup3 replaces the connection under the same descriptor number.
  const int replaced = dup3(fresh, fd, close_on_exec);
  close(fresh);
  if (replaced < 0) return -ENODEV;
  Set(fd, connection.file);
  return 0;
}

std::optional<ssize_t> BusFiles::Use(
    int fd, const std::function<ssize_t(const File&, VirtualAdapter&, const VirtualAdapter::Carry&)>& act) {
  ConnectionPtr connection = Find(fd);
  if (connection == nullptr) return std::nullopt;
  File& file = *connection->file;
  // `connection` may be replaced below; the file and its mutex must outlive it.
  const std::shared_ptr<File> keeps_alive = connection->file;
  absl::MutexLock lock(&file.mu);
  const auto carry = [&](const smbus::Transfer& transfer) -> absl::StatusOr<smbus::TransferResult> {
    if (connection->broken) {
      if (Reconnect(fd, *connection) != 0) return absl::UnavailableError("no bus");
      connection = Find(fd);
      if (connection == nullptr) return absl::UnavailableError("closed meanwhile");
    }
    auto result = smbus::ExchangeOnBus(fd, file.path, transfer, kPatience);
    connection->broken = !result.ok();
    return result;
  };
  return act(file, file.adapter, carry);
}

std::optional<int> BusFiles::Ioctl(int fd, unsigned long request, unsigned long argument) {
  if (!VirtualAdapter::Knows(request)) return std::nullopt;
  const auto result = Use(fd, [&](const File&, VirtualAdapter& adapter, const VirtualAdapter::Carry& carry) {
    return adapter.Ioctl(request, argument, carry);
  });
  return result ? std::optional(static_cast<int>(*result)) : std::nullopt;
}

int BusFiles::LockOf(File& file) {
  absl::MutexLock lock(&file.mu);
  if (file.lock.is_open()) return file.lock.get();
  const std::string path = smbus::LockPathOf(file.path);
  file.lock = Descriptor(open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660));
  return file.lock.is_open() ? file.lock.get() : -errno;
}

std::optional<int> BusFiles::Lock(int fd, int operation) {
  const ConnectionPtr connection = Find(fd);
  if (connection == nullptr) return std::nullopt;
  const std::shared_ptr<File> file = connection->file;
  const int lock = LockOf(*file);
  if (lock < 0) return lock;
  // Not under the file's mutex: it may block for as long as another program has the lock.
  return flock(lock, operation) == 0 ? 0 : -errno;
}

std::optional<ssize_t> BusFiles::Read(int fd, void* buffer, size_t size) {
  return Use(fd, [&](const File& file, VirtualAdapter& adapter, const VirtualAdapter::Carry& carry) -> ssize_t {
    return (file.flags & O_ACCMODE) == O_WRONLY ? -EBADF : adapter.Read(buffer, size, carry);
  });
}

std::optional<ssize_t> BusFiles::Write(int fd, const void* buffer, size_t size) {
  return Use(fd, [&](const File& file, VirtualAdapter& adapter, const VirtualAdapter::Carry& carry) -> ssize_t {
    return (file.flags & O_ACCMODE) == O_RDONLY ? -EBADF : adapter.Write(buffer, size, carry);
  });
}

void FolderListing::Opened(DIR* dir) {
  if (dir == nullptr || names_.empty()) return;
  // The errno of opendir must survive.
  const int error = errno;
  const bool is_it = IsFolder(dirfd(dir), folder_.c_str());
  errno = error;
  if (!is_it) return;
  auto listing = std::make_unique<Listing>();
  listing->left = All();
  absl::MutexLock lock(&mu_);
  listings_.insert_or_assign(dir, std::move(listing));
  open_ = listings_.size();
}

FolderListing::Listing* FolderListing::Find(DIR* dir) {
  const auto found = listings_.find(dir);
  return found == listings_.end() ? nullptr : found->second.get();
}

void FolderListing::Saw(DIR* dir, const char* name) {
  // Most programs list other folders only: these take no lock.
  if (open_ == 0) return;
  absl::MutexLock lock(&mu_);
  if (Listing* const listing = Find(dir)) std::erase(listing->left, name);
}

dirent* FolderListing::Next(DIR* dir) {
  if (open_ == 0) return nullptr;
  absl::MutexLock lock(&mu_);
  Listing* const listing = Find(dir);
  if (listing == nullptr || listing->left.empty()) return nullptr;
  const std::string name = std::move(listing->left.back());
  listing->left.pop_back();
  dirent& entry = listing->entry;
  entry = {};
  entry.d_ino = 1;  // 0 marks a deleted entry
  entry.d_reclen = sizeof(entry);
  entry.d_type = DT_CHR;
  std::memcpy(entry.d_name, name.c_str(), std::min(name.size(), sizeof(entry.d_name) - 1));
  return &entry;
}

void FolderListing::Rewound(DIR* dir) {
  if (open_ == 0) return;
  absl::MutexLock lock(&mu_);
  if (Listing* const listing = Find(dir)) listing->left = All();
}

void FolderListing::Closed(DIR* dir) {
  if (open_ == 0) return;
  absl::MutexLock lock(&mu_);
  listings_.erase(dir);
  open_ = listings_.size();
}

}  // namespace sideband::i2cdev
