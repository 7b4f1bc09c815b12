{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE OverloadedStrings #-}
-- | The laboratory's line protocol (docs/src/external-subjects.md), for programs in Haskell. A program says how one operation
-- is read, done, weighed and shown; here is when each of these happens, and what the clock sees.
module Protocol (Hello (..), Subject (..), Fields, serve, number, decimal, size) where

import Control.Exception (SomeException, evaluate, try)
import Control.Monad (forM_, replicateM)
import Data.ByteString (ByteString)
import qualified Data.ByteString.Char8 as Bytes
import qualified Data.Text as Text
import Data.Text (Text)
import Data.Text.Encoding (decodeUtf8, encodeUtf8)
import Data.Text.Unsafe (lengthWord16)
import GHC.Clock (getMonotonicTimeNSec)
import System.Exit (exitFailure)
import System.IO

-- | The fields of a line.
type Fields = [Text]

-- | What the laboratory said first: the experiment, the directory, and host and port where there is a server.
data Hello = Hello { directory :: FilePath, server :: [String] }

-- | An open store.
data Subject = forall operation answer. Subject
  { about :: Text                              -- ^ Name and version.
  , settings :: Text
  , setUp :: Fields -> [Fields] -> IO ()       -- ^ Untimed: `load` with its rows, or `sql`.
  , operation :: Fields -> Maybe operation     -- ^ Untimed; evaluated to its head.
  , run :: operation -> IO answer              -- ^ Timed.
  , weigh :: answer -> Int                     -- ^ Timed: has to look at every value of the answer.
  , endBatch :: IO ()                          -- ^ Timed.
  , rows :: answer -> [Fields]                 -- ^ Untimed.
  , close :: IO ()
  }

-- | Serves one store until it is closed.
serve :: (Hello -> IO Subject) -> IO ()
serve open = do
  forM_ [stdin, stdout] $ \handle -> hSetBinaryMode handle True >> hSetBuffering handle (BlockBuffering (Just 65536))
  served <- try start
  case served of
    Right () -> pure ()
    Left failure -> do
      say ["error", Text.pack (show (failure :: SomeException))]
      hFlush stdout
      exitFailure
  where
    start = do
      hello <- hear
      case hello of
        "hello" : "1" : _ : place : rest -> do
          subject <- open (Hello (Text.unpack place) (map Text.unpack rest))
          reply ["hello", "1", about subject, settings subject]
          loop subject
        _ -> fail ("expected hello of version 1, found " ++ show hello)

loop :: Subject -> IO ()
loop subject@Subject { operation = readOperation, run = runOne, weigh = weighOne, rows = rowsOf } = do
  line <- hear
  case line of
    ["close"] -> close subject >> reply ["ok"]
    ["load", count] -> replicateM (number count) hear >>= setUp subject line >> reply ["ok"] >> loop subject
    "sql" : _ -> setUp subject line [] >> reply ["ok"] >> loop subject
    ["batch", count] -> do
      batch <- replicateM (number count) (hear >>= parsed)
      reply ["ready"]
      expect ["go"]
      (answers, weight, times) <- timed batch [] 0 []
      endBatch subject
      reply ("done" : decimal weight : map decimal (reverse times))
      expect ["results"]
      forM_ (reverse answers) $ \answer -> do
        let found = maybe [] rowsOf answer
        say ["rows", decimal (length found)]
        mapM_ say found
      hFlush stdout
      loop subject
    _ -> fail ("not understood: " ++ show line)
  where
    parsed ["nothing"] = pure Nothing
    parsed fields = case readOperation fields of
      Just found -> Just <$> evaluate found
      Nothing -> fail ("no such operation: " ++ show fields)
    timed [] answers weight times = pure (answers, weight, times)
    timed (next : rest) answers weight times = do
      start <- getMonotonicTimeNSec
      answer <- traverse runOne next
      own <- evaluate (maybe 0 weighOne answer)
      end <- getMonotonicTimeNSec
      let sum' = weight + own
      sum' `seq` timed rest (answer : answers) sum' (fromIntegral (end - start) : times)

expect :: Fields -> IO ()
expect wanted = do
  found <- hear
  if found == wanted then pure () else fail ("expected " ++ show wanted ++ ", found " ++ show found)

hear :: IO Fields
hear = map unescape . Bytes.split '\t' <$> Bytes.hGetLine stdin

say :: Fields -> IO ()
say fields = Bytes.hPutStr stdout (Bytes.intercalate "\t" (map escape fields)) >> Bytes.hPutStr stdout "\n"

reply :: Fields -> IO ()
reply fields = say fields >> hFlush stdout

escape :: Text -> ByteString
escape text
  | Text.any (`elem` ("\t\n\r\\" :: String)) text = encodeUtf8 (Text.concatMap one text)
  | otherwise = encodeUtf8 text
  where
    one '\t' = "\\t"
    one '\n' = "\\n"
    one '\r' = "\\r"
    one '\\' = "\\\\"
    one other = Text.singleton other

unescape :: ByteString -> Text
unescape bytes
  | Bytes.elem '\\' bytes = Text.pack (go (Text.unpack text))
  | otherwise = text
  where
    text = decodeUtf8 bytes
    go ('\\' : 't' : rest) = '\t' : go rest
    go ('\\' : 'n' : rest) = '\n' : go rest
    go ('\\' : 'r' : rest) = '\r' : go rest
    go ('\\' : other : rest) = other : go rest
    go (other : rest) = other : go rest
    go [] = []

-- | A number out of a field.
number :: Text -> Int
number = read . Text.unpack

-- | A number as a field.
decimal :: Int -> Text
decimal = Text.pack . show

-- | The length of a text: all texts of the experiments are ASCII, so that it need not be counted.
size :: Text -> Int
size = lengthWord16
