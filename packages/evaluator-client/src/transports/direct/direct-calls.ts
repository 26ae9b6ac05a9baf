import { isRecord, valueAt } from "../../questions/json.ts";
import type { PostedService } from "../post-transport.ts";
import { mergeProviderOptions, type ProviderOptions } from "../provider-options.ts";
import { type CutStateWarning, cutStateWarnings } from "./cut-state.ts";
import { decisionsForm } from "./decisions-wire.ts";
import { type DirectForm, type DirectReply, systemoneForm } from "./direct-wire.ts";
import type { DirectWire } from "./forms.ts";
import { geminiForm } from "./gemini-wire.ts";
import { failedStatus, findRequestId, toDirectError } from "./service-errors.ts";
import {
  type AskedModel,
  toCost,
  definesConfidence,
  toRounding,
  toUsage,
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
  /** Options of every call; those of a call win. */
  readonly ofTransport: ProviderOptions | undefined;
}

type ServiceCode = Pick<PostedService, "toBody" | "toReply" | "toError" | "failedStatus">;

/** Returns the code of a server's calls, which its first call loads: bodies, replies and errors. */
export function directCalls(server: NamedServer): ServiceCode {
  const { name, wire, vendor, model, asked: askedModel, ofTransport } = server;
  const form = codeOf[wire];
  const row = askedModel?.row;
  const answering = {
    vendor,
    row,
    definesConfidence: !askedModel || definesConfidence(askedModel),
  };
  return {
    toBody(request, ofCall) {
      const sentProviderOptions = mergeProviderOptions(ofTransport, ofCall);
      return withCallOptions(form.toBody(request, model, row), sentProviderOptions?.[name]);
    },
    toReply(response, request) {
      const json = askedModel ? unwrap(response.json) : response.json;
      const read = form.read(json, request.questions, answering);
      const reply = { ...read, usage: toUsage(json, read.usage) };
      const warnings = cutStateWarnings(json, reply, request);
      const requestId = findRequestId(response, row);
      return { ...toReply({ ...reply, warnings }, askedModel, json), requestId };
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
function toReply(read: Warned, askedModel: AskedModel | undefined, json: unknown) {
  const {
    model = null,
    usage,
    warnings,
    answers,
    providerMetadata,
    definesConfidence: defines = true,
  } = read;
  const rounding = askedModel
    ? toRounding(askedModel)
    : { probabilityDecimals: 2, scoreDecimals: 2 };
  return {
    response: { answers, rounding, usage, warnings, providerMetadata },
    modelId: model,
    definesConfidence: askedModel ? definesConfidence(askedModel) : defines,
    ...(askedModel && { costUsd: toCost(json, usage, askedModel) }),
  };
}
