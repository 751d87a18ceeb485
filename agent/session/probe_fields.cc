#include "agent/session/probe_fields.h"

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace assay::session {
namespace {

using google::protobuf::FieldDescriptor;

const FieldDescriptor* KindField(const v1::Probe& probe) {
  const auto* oneof = v1::Probe::descriptor()->FindOneofByName("kind");
  return v1::Probe::GetReflection()->GetOneofFieldDescriptor(probe, oneof);
}

const FieldDescriptor* TargetField(const FieldDescriptor* kind) {
  if (kind == nullptr) return nullptr;
  const FieldDescriptor* target = kind->message_type()->FindFieldByName("target");
  bool is_text = target != nullptr && !target->is_repeated() &&
                 target->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  return is_text ? target : nullptr;
}

}  // namespace

std::string KindOf(const v1::Probe& probe) {
  const FieldDescriptor* kind = KindField(probe);
  return kind == nullptr ? "" : kind->name();
}

bool HasTarget(const v1::Probe& probe) { return TargetField(KindField(probe)) != nullptr; }

std::string TargetOf(const v1::Probe& probe) {
  const FieldDescriptor* kind = KindField(probe);
  const FieldDescriptor* target = TargetField(kind);
  if (target == nullptr) return "";
  const auto& message = v1::Probe::GetReflection()->GetMessage(probe, kind);
  return message.GetReflection()->GetString(message, target);
}

void SetTarget(v1::Probe& probe, absl::string_view text) {
  const FieldDescriptor* kind = KindField(probe);
  const FieldDescriptor* target = TargetField(kind);
  if (target == nullptr) return;
  auto* message = v1::Probe::GetReflection()->MutableMessage(&probe, kind);
  message->GetReflection()->SetString(message, target, std::string(text));
}

}  // namespace assay::session
