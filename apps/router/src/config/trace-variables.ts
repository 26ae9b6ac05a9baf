import type { Environment } from "evaluator-kit";
import { z } from "zod";
import { oneOf } from "./fields.ts";

// Phoenix, for one, takes no JSON.
const protocol = oneOf(["http/protobuf", "http/json"]);

/** How traces are written for a collector. */
export type TraceProtocol = z.infer<typeof protocol>;

/** OpenTelemetry's variables that the router reads; its packages read the others of its specification. */
export const traceVariables = {
  OTEL_TRACES_EXPORTER: oneOf(["otlp", "none"]).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.default("http/protobuf"),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional(),
};

const schema = z.object(traceVariables);

/** Returns how traces are written; null without traces. */
export function findTraceProtocol(
  env: Environment,
  values: z.infer<typeof schema>,
): TraceProtocol | null {
  const address = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const isOff = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  if (address === undefined || isOff || values.OTEL_TRACES_EXPORTER === "none") return null;
  return values.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? values.OTEL_EXPORTER_OTLP_PROTOCOL;
}
