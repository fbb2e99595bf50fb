-- Numbers of the protocol. In a script `@NAME@` stands for the number; in C it is `RV_NAME` (protocol/definition.h).
return {
  {name = 'SCORE_START', value = 1099511627776, help = 'the sequence number of the first task that is put at the end of a queue'},
  {name = 'SCORE_STEP', value = 256, help = 'the distance between the sequence numbers of two tasks that are enqueued one after the other'},
  {name = 'SCORE_BAND', value = 70368744177664, help = 'the width of the range of sequence numbers that belongs to one priority'},
  {name = 'LATEST', value = 9007199254740991, unit = 'ms', help = 'the latest time: larger numbers are not exact in Lua'},
}
