export {
  type Backlog,
  type Bus,
  type ConsumeOptions,
  type DeadLetter,
  type Delivery,
  type Intake,
  type Message,
  maxPayload,
  NoResponders,
  type Notice,
  type OutgoingEvent,
  originalId,
  type RequestOptions,
  RequestTimeout,
  replayedId,
  type Withdrawal,
} from './bus.ts';
export { BusWrapper } from './bus-wrapper.ts';
export { InFlight } from './in-flight.ts';
export { listenAtStart } from './listen-at-start.ts';
export { checkedMessage, messageSize } from './message.ts';
export { observedBus } from './observed-bus.ts';
export { receivedAt, watchAbsence } from './received-at.ts';
export { codeHeader, repeatHeader, replayedHeader, shedHeader, statusHeader } from './reply-headers.ts';
export { streamNames } from './stream-names.ts';
export { subjectMatches } from './subject.ts';
