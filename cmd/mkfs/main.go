// Command mkfs makes XFS filesystems.
package main

func main() {}
