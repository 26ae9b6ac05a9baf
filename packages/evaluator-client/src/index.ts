// Asking
export { createEvaluator } from "./create-evaluator.ts";
export type { AttemptsElsewhere, Evaluator, Middleware, MiddlewareCall } from "./evaluator.ts";
export type { EvaluateManyOptions, EvaluateOptions } from "./evaluator-options.ts";
export type { BatchItem, BatchLimits, BatchTotals } from "./batch/run-batch.ts";
export type { EvaluationBatch, RequestSource } from "./batch/run-batch.ts";
export type { Environment } from "./environment.ts";
export { apiKeyVariables, keyVariables } from "./transport-from-environment.ts";
export type { TransportName } from "./transport-from-environment.ts";
export { keyFromEnvironment, transportFromEnvironment } from "./transport-from-environment.ts";
export type {
  CallLimits,
  EvaluatorOptions,
  RetryOptions,
  TracedCall,
  Tracing,
} from "./evaluator-options.ts";
export { cutText, image } from "./questions/state.ts";
export type { ImageFormat } from "./questions/image-size.ts";
export type { ImagePart, ImageSupport } from "./questions/state.ts";
export type { JsonPart, State, StatePart } from "./questions/state.ts";

// Reaching the model
export { directTransport } from "./transports/direct/direct-transport.ts";
export type { DirectTransportOptions } from "./transports/direct/direct-transport.ts";
export type { DirectWire } from "./transports/direct/forms.ts";
export { serviceRows, services } from "./transports/direct/services.ts";
export type { ServiceName, ServiceRow, ServiceRule } from "./transports/direct/services.ts";
export { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
export type {
  GatewayTransportOptions,
  GatewayWire,
} from "./transports/gateway/gateway-transport.ts";
export { logprobsTransport } from "./transports/logprobs/logprobs-transport.ts";
export type { LogprobsTransportOptions } from "./transports/logprobs/logprobs-transport.ts";
export type { TokenPrice } from "./transports/logprobs/label-calls.ts";
export type { LabelServerName } from "./transports/logprobs/label-servers.ts";
export type { Debias } from "./transports/logprobs/question-plan.ts";
export type { AttemptContext, CallEstimate, Transport } from "./transports/transport.ts";
export type { TransportReply, TransportTarget } from "./transports/transport.ts";
export type { Abortable, AnyDispatcher, Fetch } from "./http/http-client.ts";
export type { ResponseHeaders } from "./http/http-response.ts";
export type { TransportOptions } from "./transports/post-transport.ts";
export { createPacer, type Pacer } from "./pacing/pacer.ts";
export { sharedPacer } from "./pacing/shared-pacer.ts";
export type { SharedPacerOptions } from "./pacing/leased-slots.ts";
export { memoryLimits } from "./pacing/limit-store.ts";
export type { LimitRow, LimitStore, StoredLimit } from "./pacing/limit-store.ts";
export type { Admission, PacedCall, Patience, WaitLimit } from "./pacing/call-queue.ts";
export type { GatewayOptions, ProviderOptions } from "./transports/provider-options.ts";
export type { RateLimits } from "./pacing/rate-limits.ts";
export type { Clock, EvaluatorRuntime } from "./clock.ts";
export type { Defined } from "./options.ts";
export type { OwnTransportName } from "./environment.ts";

// Models, prices, credits
export { createCatalog } from "./catalog/catalog.ts";
export type { Catalog, CatalogOptions, LookUpOptions } from "./catalog/catalog.ts";
export type { CatalogModel, Credits, ModelEndpoint } from "./catalog/catalog-replies.ts";
export {
  type CostEstimate,
  type CostOptions,
  estimateCost,
  mostCostUsd,
} from "./catalog/estimate-cost.ts";

// Following
export type { AttemptEvent, Hooks, Logger, WaitEvent } from "./logger.ts";

// Questions, answers, bodies
export { boolean, box, choice, score } from "./questions/kinds.ts";
export { questionKinds, truthsOf, valuesOf } from "./questions/kinds.ts";
export type { KindName, Kinds, Question, QuestionKind, Questions } from "./questions/kinds.ts";
export type { Answer, AnswerFor, AnswersByKind, AnswersFor } from "./questions/kinds.ts";
export type { AnswerValue, ValueField } from "./questions/kinds.ts";
export { answerSchema, questionSchema } from "./questions/kinds.ts";
export { booleanAnswerSchema, booleanQuestionSchema } from "./questions/kinds/boolean.ts";
export type { BooleanAnswer, BooleanQuestion } from "./questions/kinds/boolean.ts";
export { boxAnswerSchema, boxQuestionSchema } from "./questions/kinds/box.ts";
export type { Box, BoxAnswer, BoxQuestion } from "./questions/kinds/box.ts";
export { choiceAnswerSchema, choiceQuestionSchema } from "./questions/kinds/choice.ts";
export type { ChoiceAnswer, ChoiceQuestion, OptionList } from "./questions/kinds/choice.ts";
export { scoreAnswerSchema, scoreQuestionSchema } from "./questions/kinds/score.ts";
export type {
  LevelIndex,
  ScoreAnswer,
  ScoreLevels,
  ScoreQuestion,
} from "./questions/kinds/score.ts";
export type { Empty, KeyLimit, KindOf, NonEmpty, QuestionLimits } from "./questions/kinds/kind.ts";
export type { BrokenRule, Rounding, Truth, ValueFieldOf } from "./questions/kinds/kind.ts";
export { checkAnswers } from "./check-answers.ts";
export type { AnswerRule, AnswersToCheck } from "./check-answers.ts";
export { evaluationResponseSchema } from "./evaluation.ts";
export { restOfRefusal } from "./rest-of-refusal.ts";
export { type CutStateWarning, isStateCut } from "./transports/direct/cut-state.ts";
export type { AnswerRoute } from "./answer-route.ts";
export type { ConfidenceFor, Evaluation, EvaluationResponse, Timing, Usage } from "./evaluation.ts";
export { evaluationRequestSchema } from "./questions/request.ts";
export { estimateTextTokens } from "./questions/text-tokens.ts";
export { estimateTokens } from "./questions/tokens.ts";
export { type BoundedEstimate, checkLength } from "./transports/call-estimate.ts";
export type { EvaluationRequest, QuestionProblem } from "./questions/request.ts";
export type { JsonObject, JsonValue } from "./questions/json.ts";
export { type Wording, wordingText } from "./questions/wording.ts";
export type { Json, NotJson, PartOf, StateOf } from "./questions/state.ts";

// Failures
export {
  AuthenticationError,
  ConfigurationError,
  ConnectionError,
  EvaluatorError,
  GatewayRateLimitError,
  InvalidRequestError,
  InvalidResponseError,
  RateLimitError,
  RefusalError,
  StatusError,
  TimeoutError,
} from "./errors.ts";
export type {
  EvaluatorErrorOptions,
  RefusalRest,
  StatusErrorDetails,
  TimeoutErrorDetails,
} from "./errors.ts";
