package main

import "mkfs/internal/xlog"

// jsonLogState is where a log begins and ends.
type jsonLogState struct {
	Clean bool   `json:"clean"`
	Head  int    `json:"head"` // block of 512 bytes
	Tail  int    `json:"tail"`
	Cycle uint32 `json:"cycle"`
	LSN   string `json:"last_lsn"`
	Torn  bool   `json:"torn"` // writes had been cut short
}

func newLogState(s *xlog.State) jsonLogState {
	return jsonLogState{s.Clean, s.Head, s.Tail, s.Cycle, s.LastLSN.String(), s.Torn}
}
