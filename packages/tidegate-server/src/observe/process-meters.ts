import { readdirSync } from "node:fs";
import {
  type EventLoopUtilization,
  monitorEventLoopDelay,
  PerformanceObserver,
  performance,
} from "node:perf_hooks";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/**
 * This process under the names Prometheus dashboards know. Not `collectDefaultMetrics`: that can not be closed, and walks
 * all sockets at each scrape.
 */
export function openProcessMeters(registry: Registry): { close(): void } {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();

  function gauge(
    name: string,
    help: string,
    aggregator: "sum" | "max" | "omit",
    read: () => number | undefined,
  ): void {
    new Gauge({
      name,
      help,
      registers,
      aggregator,
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }

  function seconds(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read() / 1e6);
      },
    });
  }

  seconds("process_cpu_user_seconds_total", "User CPU time in seconds.", () => process.cpuUsage().user);
  seconds("process_cpu_system_seconds_total", "System CPU time in seconds.", () => process.cpuUsage().system);
  gauge("process_start_time_seconds", "Start of the process, in seconds since the epoch.", "omit", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  gauge("process_resident_memory_bytes", "Resident memory in bytes.", "sum", () => process.memoryUsage.rss());
  gauge("process_open_fds", "Open file descriptors.", "sum", openFiles);
  gauge("nodejs_heap_size_used_bytes", "Heap in use, in bytes.", "sum", () => process.memoryUsage().heapUsed);
  gauge(
    "nodejs_external_memory_bytes",
    "Memory outside the heap, in bytes.",
    "sum",
    () => process.memoryUsage().external,
  );
  gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "99th percentile of the event loop's delay since the last scrape.",
    "max",
    () => {
      const lag = delay.count === 0 ? 0 : delay.percentile(99) / 1e9;
      delay.reset();
      return lag;
    },
  );
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  gauge(
    "nodejs_eventloop_utilization",
    "Share of time the event loop was busy since the last scrape.",
    "max",
    () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
  );
  const pauses = new Histogram({
    name: "nodejs_gc_duration_seconds",
    help: "Garbage collections by their duration.",
    registers,
    buckets: [0.001, 0.01, 0.1, 1],
  });
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.observe(duration / 1000);
  });
  observer.observe({ entryTypes: ["gc"] });

  return {
    close() {
      delay.disable();
      observer.disconnect();
    },
  };
}

/** Linux tells them; where nobody does there is no such number. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return undefined;
  }
}
