// The distribution's gRPC, Abseil and OpenSSL are not instrumented: ThreadSanitizer sees neither
// their locks nor what they order, only their accesses. What is ours stays under its eyes.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions();   // NOLINT
extern "C" const char* __tsan_default_suppressions() {  // NOLINT
  return "race:libgrpc.so\n"
         "race:libgpr.so\n"
         "race:libgrpc++.so\n"
         "race:libabsl_\n"
         "race:libssl.so\n"
         "race:libcrypto.so\n"
         "called_from_lib:libgrpc.so\n"
         "called_from_lib:libgpr.so\n"
         "called_from_lib:libgrpc++.so\n"
         "called_from_lib:libabsl_synchronization.so\n"
         "called_from_lib:libssl.so\n"
         "called_from_lib:libcrypto.so\n"
         "mutex:libgrpc\n";
}
#endif
