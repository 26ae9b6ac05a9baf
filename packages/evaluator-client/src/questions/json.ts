/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Stands in a compiler's message where a state holds what JSON cannot. */
export interface NotJson<TWhy extends string> {
  readonly notJson: TWhy;
}

/**
 * The type itself when every value of it is JSON, interfaces included, else a type that it is not
 * assignable to and that says why.
 */
export type Json<TValue> = [TValue] extends [JsonValue | undefined]
  ? TValue
  : TValue extends string | number | boolean | null | undefined
    ? TValue
    : TValue extends bigint
      ? NotJson<"a bigint: send it as text">
      : TValue extends symbol
        ? NotJson<"a symbol">
        : TValue extends (...args: never[]) => unknown
          ? NotJson<"a function, or an object with methods: send its fields">
          : TValue extends
                | Date
                | RegExp
                | Error
                | ReadonlyMap<never, unknown>
                | ReadonlySet<unknown>
            ? NotJson<"an instance of a class: send its text or its fields">
            : TValue extends object
              ? { readonly [TKey in keyof TValue]: Json<TValue[TKey]> }
              : NotJson<"unknown: say which JSON type it has">;

/** The type itself when it can be a state, text or a JSON object, else why it cannot. */
export type StateOf<TState> = TState extends readonly unknown[]
  ? NotJson<"a list: put it under a key of an object">
  : Json<TState>;
