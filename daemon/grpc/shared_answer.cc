// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/shared_answer.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

// https://protobuf.dev/programming-guides/encoding/#structure
constexpr uint32_t kLengthDelimited = 2;

void AppendVarint(std::string& to, uint32_t value) {
  uint8_t bytes[5];
  const uint8_t* const end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(value, bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

// The body's bytes as a slice that holds the body.
grpc::Slice SliceOf(const std::shared_ptr<const SnapshotBody>& body) {
  using Owner = std::shared_ptr<const SnapshotBody>;
  // gRPC's signature; it does not write to a slice that it sends.
  auto* const bytes = const_cast<char*>(body->bytes.data());
  return grpc::Slice(
      bytes, body->bytes.size(), [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(body));
}

// A message being put together from the bytes of its fields.
class Pieces {
 public:
  // The snapshot as the submessage `field`.
  void Add(int field, const SharedSnapshot& snapshot) {
    const size_t size = snapshot.body->bytes.size() + snapshot.moment.size();
    is_whole_ = is_whole_ && snapshot.body->is_whole && size <= kMessageBytesMost;
    AppendVarint(own_, static_cast<uint32_t>(field) << 3 | kLengthDelimited);
    AppendVarint(own_, static_cast<uint32_t>(size));
    EndSlice();
    Append(SliceOf(snapshot.body));
    own_ += snapshot.moment;
  }
  void Add(const google::protobuf::Message& fields) { fields.AppendToString(&own_); }

  absl::StatusOr<grpc::ByteBuffer> Take(size_t bytes_max) {
    EndSlice();
    if (!is_whole_ || size_ > bytes_max) return SerialisationError();
    return grpc::ByteBuffer(slices_.data(), slices_.size());
  }

 private:
  void EndSlice() {
    if (!own_.empty()) Append(grpc::Slice(own_));
    own_.clear();
  }
  void Append(grpc::Slice slice) {
    size_ += slice.size();
    slices_.push_back(std::move(slice));
  }

  std::string own_;  // what is not shared, since the last slice
  std::vector<grpc::Slice> slices_;
  size_t size_ = 0;
  bool is_whole_ = true;
};

}  // namespace

absl::StatusOr<grpc::ByteBuffer> Serialized(const StreamMessage& message, size_t bytes_max) {
  Pieces pieces;
  if (message.update) pieces.Add(sideband::v1::SubscribeResponse::kUpdateFieldNumber, *message.update);
  pieces.Add(message.fields);
  return pieces.Take(bytes_max);
}

absl::StatusOr<grpc::ByteBuffer> Serialized(const std::vector<SharedSnapshot>& snapshots, size_t bytes_max) {
  Pieces pieces;
  for (const SharedSnapshot& snapshot : snapshots) {
    pieces.Add(sideband::v1::GetSnapshotResponse::kSnapshotsFieldNumber, snapshot);
  }
  return pieces.Take(bytes_max);
}

}  // namespace sideband::daemon
