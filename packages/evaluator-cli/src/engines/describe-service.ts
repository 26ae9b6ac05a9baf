import { type ServiceName, serviceRows, services } from "evaluator-client";
import { type CliContext, printable } from "evaluator-kit";
import type { AskOptions } from "../commands/ask-commands.ts";

/** Whether a word is the name of a service that needs no examination. */
export function isServiceName(typedWord: string): typedWord is ServiceName {
  return (services as readonly string[]).includes(typedWord);
}

/** Prints what a service needs and takes, with the lines that reach it; nothing is sent. */
export function describeService(
  service: ServiceName,
  { model: wantedModel, json: isJson }: AskOptions<"doctor">,
  { env, stdout }: CliContext,
): void {
  const { title, baseUrl, path, keyVariables, wire, model: usualModel } = serviceRows[service];
  const setVariable = keyVariables.find((variableName) => Boolean(env[variableName]?.trim()));
  const model = wantedModel ?? usualModel;
  const paste = [
    `EVALUATOR_TRANSPORT=${service}`,
    `${setVariable ?? keyVariables[0]}=…`,
    ...(baseUrl.includes("{account}") ? ["CLOUDFLARE_ACCOUNT_ID=…"] : []),
    ...(model !== null && model === usualModel
      ? []
      : [printable`EVALUATOR_MODEL_ID=${model ?? "…"}`]),
  ].join("\n");
  const url = baseUrl + path;
  const description = {
    service,
    title,
    url,
    wire,
    keyVariables,
    keyFrom: setVariable ?? null,
    model,
    paste,
  };
  const serviceLines = [
    `${title} is a known service; nothing was sent.`,
    `  address             ${url} (form ${wire})`,
    `  key                 ${keyVariables.join(" or ")}: ${setVariable === undefined ? "not set" : "set"}`,
    printable`  model               ${model ?? "none is usual; name yours with --model"}`,
    "",
    paste,
  ];
  stdout.write(
    `${isJson === true ? JSON.stringify(description, null, 2) : serviceLines.join("\n")}\n`,
  );
}
