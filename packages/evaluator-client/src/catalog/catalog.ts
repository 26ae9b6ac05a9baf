/// <reference lib="esnext.disposable" preserve="true" />

/** One model of the gateway's price list (contract section 4.2). */
export interface CatalogModel {
  /** `<creator>/<model>`, as other options take it. */
  id: string;
  /** The gateway's word for its purpose, such as `language` or `evaluation`, or null. */
  type: string | null;
  /** Its display name, or null. */
  name: string | null;
  /** Input and output tokens of one call together, or null if unknown. */
  contextWindow: number | null;
  /** US dollars per million input tokens, or null when not listed. */
  inputUsdPerMillionTokens: number | null;
  /** US dollars per million output tokens, or null when not listed. */
  outputUsdPerMillionTokens: number | null;
  /** The unchanged record; its prices are per token. */
  raw: unknown;
}

/** One way the gateway reaches a model (contract section 4.3). */
export interface ModelEndpoint {
  /** Who serves the model, or null. */
  providerName: string | null;
  /** Zero data retention: a boolean or a word such as `all`, or null. */
  zdr: boolean | string | null;
  /** No training on the data: a boolean or a word such as `all`, or null. */
  noTraining: boolean | string | null;
  /** Whether repeated input is cached automatically: a boolean or a word, or null. */
  supportsImplicitCaching: boolean | string | null;
  /** US dollars per million input tokens, or null when not listed. */
  inputUsdPerMillionTokens: number | null;
  /** US dollars per million output tokens, or null when not listed. */
  outputUsdPerMillionTokens: number | null;
  /** The unchanged record; its prices are per token. */
  raw: unknown;
}

/** The account's balance (contract section 4.4). */
export interface Credits {
  /** Credit left, in US dollars. */
  balanceUsd: number;
  /** Credit used so far, in US dollars. */
  totalUsedUsd: number;
  /** The unchanged record. */
  raw: unknown;
}

/** Options of one look-up. */
export interface LookUpOptions {
  /** Ends the look-up at once; its reason is thrown unchanged. */
  signal?: AbortSignal;
}

/** Looks up the gateway's models and your credits; every look-up is free. */
export interface Catalog extends AsyncDisposable {
  /**
   * Lists every model with its prices; no key is needed, and none is sent.
   *
   * @throws {StatusError} when the gateway answers with an error status, after retries.
   * @throws {ConnectionError} when no usable response arrives, after retries or in time.
   * @throws {InvalidResponseError} when the list breaks the contract.
   */
  listModels(options?: LookUpOptions): Promise<CatalogModel[]>;

  /** Lists the providers of a model, `<creator>/<model>`, and their data handling; no key is sent. */
  listEndpoints(modelId: string, options?: LookUpOptions): Promise<ModelEndpoint[]>;

  /** Reads the balance of the key's account. @throws {ConfigurationError} if there is no key. */
  getCredits(options?: LookUpOptions): Promise<Credits>;

  /** Closes its connections once their look-ups are over; a look-up after it is a `ConfigurationError`. */
  close(): Promise<void>;
}
