// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/private_key.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/file.h"
#include "proto/base/openssl_handle.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr size_t kKeyFileBytesMax = 64 << 10;

absl::Status FileError(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

// Memory from OpenSSL's secure heap, wiped when it is released.
class SecureBuffer {
 public:
  explicit SecureBuffer(size_t size) : data_(static_cast<char*>(OPENSSL_secure_zalloc(size))), size_(size) {}
  ~SecureBuffer() { OPENSSL_secure_clear_free(data_, size_); }
  SecureBuffer(const SecureBuffer&) = delete;
  SecureBuffer& operator=(const SecureBuffer&) = delete;

  char* data() const { return data_; }  // nullptr if the heap is full
  size_t size() const { return size_; }

 private:
  char* const data_;
  const size_t size_;
};

absl::StatusOr<size_t> SizeOf(int fd, const std::string& path) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return FileError(path, std::strerror(errno));
  if (static_cast<size_t>(file.st_size) <= kKeyFileBytesMax) return file.st_size;
  return FileError(path, absl::StrCat("larger than ", kKeyFileBytesMax, " bytes"));
}

// Returns the number of bytes read; less than the buffer's size if the file was truncated meanwhile.
size_t ReadInto(int fd, const SecureBuffer& buffer) {
  size_t read_bytes = 0;
  while (read_bytes < buffer.size()) {
    const ssize_t got = read(fd, buffer.data() + read_bytes, buffer.size() - read_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    read_bytes += got;
  }
  return read_bytes;
}

absl::StatusOr<PrivateKey> ReadKey(const std::string& path) {
  const auto file = OpenForReading(path, FileTrust::kPrivate);
  // Every failure is an error of the configuration, whatever its original code.
  if (!file.ok()) return absl::InvalidArgumentError(file.status().message());
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, SizeOf(file->get(), path));
  const SecureBuffer pem(size + 1);  // an allocation of 0 bytes would return nullptr
  if (pem.data() == nullptr) return FileError(path, "no secure memory is left for it");
  const size_t read_bytes = ReadInto(file->get(), pem);
  KeyPtr key = ReadPrivateKey(MemoryReader({pem.data(), read_bytes}).get());
  ERR_clear_error();
  if (key == nullptr) return FileError(path, "not an unencrypted private key in PEM form");
  return PrivateKey(std::move(key));
}

// The keys in use, so that equal keys share one object.
class KeyPool {
 public:
  PrivateKey Share(PrivateKey key) {
    absl::MutexLock lock(&mu_);
    std::erase_if(keys_, [](const std::weak_ptr<EVP_PKEY>& known) { return known.expired(); });
    for (const std::weak_ptr<EVP_PKEY>& known : keys_) {
      PrivateKey shared = known.lock();
      if (shared != nullptr && EVP_PKEY_eq(shared.get(), key.get()) == 1) return shared;
    }
    keys_.push_back(key);
    return key;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::weak_ptr<EVP_PKEY>> keys_ ABSL_GUARDED_BY(mu_);
};

KeyPool& Pool() {
  static KeyPool& pool = *new KeyPool;
  return pool;
}

}  // namespace

absl::StatusOr<PrivateKey> LoadPrivateKey(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(PrivateKey key, ReadKey(path));
  return Pool().Share(std::move(key));
}

}  // namespace sideband::daemon
