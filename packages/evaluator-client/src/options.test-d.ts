import { expectTypeOf, test } from "vitest";
import type { DecisionModelOptions } from "./ai-sdk/to-decision-model.ts";
import type { CatalogOptions } from "./catalog/catalog.ts";
import type { EvaluatorRuntime } from "./clock.ts";
import { createEvaluator } from "./create-evaluator.ts";
import type { EvaluateManyOptions, EvaluatorOptions, RetryOptions } from "./evaluator-options.ts";
import type { RecordOptions } from "./exchanges/record.ts";
import type { Logger } from "./logger.ts";
import type { BudgetOptions } from "./middleware/budget.ts";
import type { CacheOptions } from "./middleware/cache.ts";
import type { FallbackOptions } from "./middleware/fallback.ts";
import type { OpenTelemetryTracingOptions } from "./opentelemetry/open-telemetry-tracing.ts";
import type { SharedPacerOptions } from "./pacing/leased-slots.ts";
import type { RateLimits } from "./pacing/rate-limits.ts";
import { boolean, choice, type Questions, score } from "./questions/kinds.ts";
import type { BooleanQuestion } from "./questions/kinds/boolean.ts";
import type { NonEmpty, QuestionLimits } from "./questions/kinds/kind.ts";
import type { GatewayTransportOptions } from "./transports/gateway/gateway-transport.ts";
import type { GatewayOptions } from "./transports/provider-options.ts";
import type { LogprobsTransportOptions } from "./transports/logprobs/logprobs-transport.ts";

/** The optional fields of a type, each undefined. */
type AllUndefined<TOptions> = {
  [TKey in keyof TOptions as TOptions extends Record<TKey, unknown> ? never : TKey]-?: undefined;
};

test("every option may be undefined, with exactOptionalPropertyTypes too", () => {
  expectTypeOf<AllUndefined<EvaluatorOptions>>().toExtend<EvaluatorOptions>();
  expectTypeOf<AllUndefined<EvaluatorRuntime>>().toExtend<EvaluatorRuntime>();
  expectTypeOf<AllUndefined<EvaluateManyOptions>>().toExtend<EvaluateManyOptions>();
  expectTypeOf<AllUndefined<GatewayTransportOptions>>().toExtend<GatewayTransportOptions>();
  expectTypeOf<AllUndefined<LogprobsTransportOptions>>().toExtend<LogprobsTransportOptions>();
  expectTypeOf<AllUndefined<CatalogOptions>>().toExtend<CatalogOptions>();
  expectTypeOf<AllUndefined<RetryOptions>>().toExtend<RetryOptions>();
  expectTypeOf<AllUndefined<GatewayOptions>>().toExtend<GatewayOptions>();
  expectTypeOf<AllUndefined<RateLimits>>().toExtend<RateLimits>();
  expectTypeOf<AllUndefined<QuestionLimits>>().toExtend<QuestionLimits>();
  expectTypeOf<AllUndefined<Logger>>().toExtend<Logger>();
  expectTypeOf<AllUndefined<BudgetOptions>>().toExtend<BudgetOptions>();
  expectTypeOf<AllUndefined<CacheOptions>>().toExtend<CacheOptions>();
  expectTypeOf<AllUndefined<FallbackOptions>>().toExtend<FallbackOptions>();
  expectTypeOf<AllUndefined<DecisionModelOptions>>().toExtend<DecisionModelOptions>();
  expectTypeOf<AllUndefined<RecordOptions>>().toExtend<RecordOptions>();
  expectTypeOf<AllUndefined<OpenTelemetryTracingOptions>>().toExtend<OpenTelemetryTracingOptions>();
  type Optional<TOptions> = Pick<TOptions, keyof AllUndefined<TOptions> & keyof TOptions>;
  expectTypeOf<AllUndefined<SharedPacerOptions>>().toExtend<Optional<SharedPacerOptions>>();
});

test("nothing to choose from does not compile", () => {
  const evaluator = createEvaluator();
  // @ts-expect-error: no questions.
  void (() => evaluator.evaluate({ state: "text", questions: {} }));
  // @ts-expect-error: no questions in a batch.
  void (() => evaluator.evaluateMany([{ state: "text", questions: {} }]));
  // @ts-expect-error: no options.
  choice("which?", {});
  const months = choice("which?", [
    ["3", "March"],
    ["1", "January"],
  ]);
  expectTypeOf<keyof typeof months.criteria>().toEqualTypeOf<"3" | "1">();
  // @ts-expect-error: no levels.
  score("how much?", []);
  const options: Record<string, string> = { a: "A" };
  const levels: string[] = ["low"];
  function askAny<TQuestions extends Questions>(questions: TQuestions & NonEmpty<TQuestions>) {
    return evaluator.evaluate({ state: "text", questions });
  }
  type Answers = Awaited<ReturnType<typeof askAny<{ scam: BooleanQuestion }>>>["answers"];
  expectTypeOf<Answers["scam"]["probability"]>().toBeNumber();
  const questions = { a: choice("which?", options), b: score("how much?", levels) };
  void (() => evaluator.evaluate({ state: "text", questions }));
  const some: Record<string, ReturnType<typeof boolean>> = { scam: boolean("scam?") };
  void (() => evaluator.evaluate({ state: "text", questions: some }));
});
