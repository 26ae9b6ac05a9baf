// Asking
export { createEvaluator } from "./create-evaluator.ts";
export type {
  EvaluateOptions,
  EvaluateManyOptions,
  MiddlewareCall,
  Middleware,
  Evaluator,
} from "./evaluator.ts";
export type {
  BatchItem,
  BatchLimits,
  BatchTotals,
  EvaluationBatch,
  RequestSource,
} from "./batch/run-batch.ts";
export { apiKeyVariables, type Environment, type TransportName } from "./environment.ts";
export {
  type CallLimits,
  type EvaluatorOptions,
  type TracedCall,
  keyFromEnvironment,
  type Tracing,
  transportFromEnvironment,
} from "./evaluator-options.ts";
export {
  cutText,
  image,
  type ImageFormat,
  type ImagePart,
  type ImageSupport,
  type JsonPart,
  type State,
  type StatePart,
} from "./questions/state.ts";

// Reaching the model
export {
  type DirectWire,
  type DirectTransportOptions,
  directTransport,
} from "./transports/direct/direct-transport.ts";
export {
  gatewayTransport,
  type GatewayTransportOptions,
  type GatewayWire,
} from "./transports/gateway/gateway-transport.ts";
export {
  type TokenPrice,
  type LogprobsTransportOptions,
  logprobsTransport,
} from "./transports/logprobs/logprobs-transport.ts";
export type { LabelServerName } from "./transports/logprobs/label-servers.ts";
export type { Debias } from "./transports/logprobs/question-plan.ts";
export type {
  TransportReply,
  TransportTarget,
  CallEstimate,
  AttemptContext,
  Transport,
} from "./transports/transport.ts";
export type { Abortable, AnyDispatcher, Fetch, ResponseHeaders } from "./http/http-client.ts";
export type { TransportOptions } from "./transports/post-transport.ts";
export { createPacer, type Pacer } from "./pacing/pacer.ts";
export { sharedPacer } from "./pacing/shared-pacer.ts";
export type { SharedPacerOptions } from "./pacing/leased-slots.ts";
export {
  type LimitRow,
  type LimitStore,
  memoryLimits,
  type StoredLimit,
} from "./pacing/limit-store.ts";
export type { Admission, PacedCall, Patience, WaitLimit } from "./pacing/call-queue.ts";
export type { RateLimits } from "./pacing/rate-limits.ts";
export type { Clock, EvaluatorRuntime } from "./clock.ts";

// Models, prices, credits
export {
  type CatalogModel,
  type ModelEndpoint,
  type Credits,
  type LookUpOptions,
  type Catalog,
  type CatalogOptions,
  createCatalog,
} from "./catalog/catalog.ts";
export { type CostEstimate, estimateCost } from "./catalog/estimate-cost.ts";

// Following
export type { AttemptEvent, Hooks, Logger, WaitEvent } from "./logger.ts";

// Questions, answers, bodies
export {
  type AnswersByKind,
  type Kinds,
  type KindName,
  type Question,
  type Questions,
  type AnswerFor,
  type Answer,
  type QuestionKind,
  questionKinds,
  type ValueField,
  type AnswerValue,
  valuesOf,
  truthsOf,
  questionSchema,
  answerSchema,
  type AnswersFor,
  type ConfidenceFor,
  boolean,
  choice,
  score,
} from "./questions/kinds.ts";
export {
  type BooleanAnswer,
  booleanAnswerSchema,
  type BooleanQuestion,
  booleanQuestionSchema,
} from "./questions/kinds/boolean.ts";
export {
  type ChoiceAnswer,
  choiceAnswerSchema,
  type ChoiceQuestion,
  choiceQuestionSchema,
} from "./questions/kinds/choice.ts";
export type {
  BrokenRule,
  KeyLimit,
  KindOf,
  QuestionLimits,
  Rounding,
  Truth,
  ValueFieldOf,
} from "./questions/kinds/kind.ts";
export {
  type LevelIndex,
  type ScoreAnswer,
  scoreAnswerSchema,
  type ScoreQuestion,
  scoreQuestionSchema,
} from "./questions/kinds/score.ts";
export {
  type AnswerRule,
  type AnswersToCheck,
  checkAnswers,
  type Evaluation,
  type EvaluationResponse,
  evaluationResponseSchema,
  type Timing,
  type Usage,
} from "./evaluation.ts";
export {
  estimateTokens,
  type EvaluationRequest,
  evaluationRequestSchema,
} from "./questions/request.ts";
export type { Json, JsonObject, JsonValue, NotJson, PartOf, StateOf } from "./questions/json.ts";

// Failures
export {
  type EvaluatorErrorOptions,
  EvaluatorError,
  ConfigurationError,
  InvalidRequestError,
  ConnectionError,
  type TimeoutErrorDetails,
  TimeoutError,
  type StatusErrorDetails,
  StatusError,
  AuthenticationError,
  RateLimitError,
  GatewayRateLimitError,
  InvalidResponseError,
  RefusalError,
} from "./errors.ts";
