"""Results of benchmarks, as `tf.test.Benchmark` reports them. Source: test_log.proto."""

from __future__ import annotations

from google.protobuf import any_pb2, wrappers_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "test_log",
    """
    message EntryValue
      double_value 1 double oneof kind
      string_value 2 string oneof kind
    message MetricEntry
      name 1 string
      value 2 double
      min_value 3 DoubleValue
      max_value 4 DoubleValue
    message BenchmarkEntry
      name 1 string
      iters 2 int64
      cpu_time 3 double
      wall_time 4 double
      throughput 5 double
      extras 6 map string EntryValue
      metrics 7 repeated MetricEntry
    message BenchmarkEntries
      entry 1 repeated BenchmarkEntry
    message BuildConfiguration
      mode 1 string
      cc_flags 2 repeated string
      opts 3 repeated string
    message CommitId
      changelist 1 int64 oneof kind
      hash 2 string oneof kind
      snapshot 3 string
      pending_changelist 4 int64
    message CPUInfo
      num_cores 1 int64
      num_cores_allowed 2 int64
      mhz_per_cpu 3 double
      cpu_info 4 string
      cpu_governor 5 string
      cache_size 6 map string int64
    message MemoryInfo
      total 1 int64
      available 2 int64
    message GPUInfo
      model 1 string
      uuid 2 string
      bus_id 3 string
    message PlatformInfo
      bits 1 string
      linkage 2 string
      machine 3 string
      release 4 string
      system 5 string
      version 6 string
    message AvailableDeviceInfo
      name 1 string
      type 2 string
      memory_limit 3 int64
      physical_description 4 string
    message MachineConfiguration
      hostname 1 string
      serial_identifier 7 string
      platform_info 2 PlatformInfo
      cpu_info 3 CPUInfo
      device_info 4 repeated Any
      available_device_info 5 repeated AvailableDeviceInfo
      memory_info 6 MemoryInfo
    message RunConfiguration
      argument 1 repeated string
    message TestResults
    enum TestResults.BenchmarkType
      UNKNOWN 0
      CPP_MICROBENCHMARK 1
      PYTHON_BENCHMARK 2
      ANDROID_BENCHMARK 3
    message TestResults
      target 1 string
      entries 2 BenchmarkEntries
      build_configuration 3 BuildConfiguration
      commit_id 4 CommitId
      start_time 5 int64
      run_time 6 double
      machine_configuration 7 MachineConfiguration
      run_configuration 8 RunConfiguration
      name 9 string
      benchmark_type 10 TestResults.BenchmarkType
      run_mode 11 string
      tf_version 12 string
    """,
    imports=(
        any_pb2,
        wrappers_pb2,
    ),
)
EntryValue = _types["EntryValue"]
MetricEntry = _types["MetricEntry"]
BenchmarkEntry = _types["BenchmarkEntry"]
BenchmarkEntries = _types["BenchmarkEntries"]
BuildConfiguration = _types["BuildConfiguration"]
CommitId = _types["CommitId"]
CPUInfo = _types["CPUInfo"]
MemoryInfo = _types["MemoryInfo"]
GPUInfo = _types["GPUInfo"]
PlatformInfo = _types["PlatformInfo"]
AvailableDeviceInfo = _types["AvailableDeviceInfo"]
MachineConfiguration = _types["MachineConfiguration"]
RunConfiguration = _types["RunConfiguration"]
TestResults = _types["TestResults"]
