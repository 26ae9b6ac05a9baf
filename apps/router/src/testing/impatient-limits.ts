/** Limits that let a slow client go within a test. */
export const impatientLimits = {
  headersTimeout: 50,
  requestTimeout: 100,
  connectionsCheckingInterval: 10,
};
