import { isRecord, valueAt } from "../../questions/json.ts";
import type { PostedService } from "../post-transport.ts";
import { type CutStateWarning, cutStateWarnings } from "./cut-state.ts";
import { decisionsForm } from "./decisions-wire.ts";
import { type DirectForm, type DirectReply, systemoneForm } from "./direct-wire.ts";
import type { DirectWire } from "./forms.ts";
import { geminiForm } from "./gemini-wire.ts";
import { failedStatus, requestIdOf, toDirectError } from "./service-errors.ts";
import {
  type AskedModel,
  costOf,
  definesConfidence,
  roundingOf,
  usageOf,
  withCallOptions,
} from "./service-rules.ts";

const codeOf: Readonly<Record<DirectWire, DirectForm>> = {
  systemone: systemoneForm,
  decisions: decisionsForm,
  gemini: geminiForm,
};

/** A server, as its options name it. */
interface NamedServer {
  readonly name: string;
  readonly wire: DirectWire;
  readonly vendor: string;
  readonly model: string;
  /** Undefined for a server without a row. */
  readonly asked: AskedModel | undefined;
}

type ServiceCode = Pick<PostedService, "toBody" | "toReply" | "toError" | "failedStatus">;

/** Returns the code of a server's calls, which its first call loads: bodies, replies and errors. */
export function directCalls({ name, wire, vendor, model, asked }: NamedServer): ServiceCode {
  const form = codeOf[wire];
  const row = asked?.row;
  const server = { vendor, row, definesConfidence: !asked || definesConfidence(asked) };
  return {
    toBody: (request, ofCall) => withCallOptions(form.toBody(request, model, row), ofCall?.[name]),
    toReply(response, request) {
      const json = asked ? unwrap(response.json) : response.json;
      const given = form.read(json, request.questions, server);
      const reply = { ...given, usage: usageOf(json, given.usage) };
      const warnings = cutStateWarnings(json, reply, request);
      const requestId = requestIdOf(response, row);
      return { ...toReply({ ...reply, warnings }, asked, json), requestId };
    },
    toError: (failure) => toDirectError(failure, row),
    ...(row && { failedStatus }),
  };
}

/** Returns the body in Cloudflare's envelope, or the body itself. */
function unwrap(json: unknown): unknown {
  const result = valueAt(json, "result");
  return isRecord(result) ? result : json;
}

type Warned = DirectReply & { readonly warnings: readonly CutStateWarning[] };

/** Puts a response into the gateway's form. */
function toReply(read: Warned, asked: AskedModel | undefined, json: unknown) {
  const {
    model = null,
    usage,
    warnings,
    answers,
    providerMetadata,
    definesConfidence: defines = true,
  } = read;
  const rounding = asked ? roundingOf(asked) : { probabilityDecimals: 2, scoreDecimals: 2 };
  return {
    response: { answers, rounding, usage, warnings, providerMetadata },
    modelId: model,
    definesConfidence: asked ? definesConfidence(asked) : defines,
    ...(asked && { costUsd: costOf(json, usage, asked) }),
  };
}
