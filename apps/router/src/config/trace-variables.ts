import { CliError, type Environment } from "evaluator-kit";
import { z } from "zod";
import { oneOf } from "./fields.ts";

// Phoenix, for one, takes no JSON.
const protocol = oneOf(["http/protobuf", "http/json"]);

/** How traces are written for a collector. */
export type TraceProtocol = z.infer<typeof protocol>;

/** OpenTelemetry's variables that the router reads; its packages read the others of its specification. */
export const traceVariables = {
  OTEL_TRACES_EXPORTER: oneOf(["otlp", "none"]).optional(),
  // Often set for all programs of a machine, so they are checked only if traces are written.
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional(),
};

const protocolNames = [
  "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
] as const;

/** Returns how traces are written; null without traces. @throws CliError for a protocol of others */
export function findTraceProtocol(
  env: Environment,
  traceValues: z.infer<z.ZodObject<typeof traceVariables>>,
): TraceProtocol | null {
  const address = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const isOff = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  if (address === undefined || isOff || traceValues.OTEL_TRACES_EXPORTER === "none") return null;
  const name = protocolNames.find((protocolName) => traceValues[protocolName] !== undefined);
  if (name === undefined) return "http/protobuf";
  const { data, error } = protocol.safeParse(traceValues[name]);
  if (data !== undefined) return data;
  throw new CliError(`${name}=${JSON.stringify(traceValues[name])} ${error?.issues[0]?.message}.`);
}
