export { type ErrorMeaning, errorMeanings } from './error-meanings.ts';
export {
  type ErrorBody,
  type ErrorCode,
  errorBody,
  errors,
  type Feature,
  type FieldError,
  isErrorCode,
  type Problem,
  problemOf,
  statusOf,
} from './errors.ts';
export * from './events/index.ts';
export {
  connectionPagination,
  connectionPaginationOf,
  generalPagination,
  generalPaginationOf,
} from './lists.ts';
export {
  apiKeyNotice,
  feedNotice,
  feedSubject,
  type NoticeSpec,
  noticeFilter,
  noticeSubject,
  projectSettingsNotice,
  type RevocationNotice,
  type Revocations,
  revocationNotice,
} from './notices.ts';
export {
  type AnswerOf,
  type Auth,
  type BodyOf,
  type ExportSection,
  type InternalOperationSpec,
  internalOperation,
  internalSubject,
  isStreamed,
  type Limit,
  type Method,
  maxFormBytes,
  methodsOf,
  type OperationSpec,
  type OperatorScope,
  type OutputOf,
  operation,
  operatorScopes,
  type ParamsOf,
  type QueryOf,
  rpcSubject,
  type ServerKeyUse,
  serverKeyMay,
  takesKey,
  type Upload,
  type Visibility,
} from './operation.ts';
export * from './operations/index.ts';
export { passwordHashCost, passwordHashKind } from './operations/password-hash.ts';
export { type Fault, nameOf, readInput, unknownFault } from './read-input.ts';
export { positiveInteger, text, timestamp, uuid } from './scalars.ts';
export { type ServiceName, type ServiceOf, serviceOf } from './service-name.ts';
export { isWebOrigin, listsOrigin } from './web-origin.ts';
