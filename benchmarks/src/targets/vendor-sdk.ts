import { type Questions as VendorQuestions, TypeSafeClient } from "@typesafe-ai/sdk";
import type { Question, Questions } from "evaluator-client";
import type { Ask, TargetSetUp } from "./target.ts";
import { apiKey } from "../sample-requests.ts";

/** Opens the vendor's own SDK on the vendor's own API. */
export function openVendorSdk({ addresses }: TargetSetUp): Ask {
  const client = new TypeSafeClient({ apiKey, baseURL: addresses.direct, logLevel: "off" });
  const known = new Map<Questions, VendorQuestions>();
  return async ({ state, questions }) => {
    const mapped = known.get(questions) ?? toVendorQuestions(questions);
    known.set(questions, mapped);
    return (await client.systemOne({ state, questions: mapped })).answers;
  };
}

/** The same questions in the vendor's words; done once, so that it costs the vendor's SDK nothing. */
function toVendorQuestions(questions: Questions): VendorQuestions {
  const entries = Object.entries(questions);
  const mapped = entries.map(([id, question]) => [id, toVendorQuestion(question)]);
  return Object.fromEntries(mapped) as VendorQuestions;
}

function toVendorQuestion(question: Question) {
  return question.type === "boolean" ? { ...question, type: "noul" as const } : question;
}
