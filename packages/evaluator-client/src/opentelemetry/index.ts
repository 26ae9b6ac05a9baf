export {
  openTelemetryTracing,
  type OpenTelemetryTracingOptions,
} from "./open-telemetry-tracing.ts";
